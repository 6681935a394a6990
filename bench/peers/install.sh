#!/bin/sh
# Installs faster-whisper and whisper.cpp (built here, natively) from PyPI into a virtual environment of their own, with the same weights.
#   bench/peers/install.sh CHECKPOINT_FOLDER     (config.json, generation_config.json, tokenizer.json, model.safetensors of openai/whisper-base)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_PEERS:-$here/../../.longhand/peers}
checkpoint=${1:?"give the folder of the openai/whisper-base checkpoint"}
mkdir -p "$out"
python3 -m venv "$out"
"$out/bin/pip" install -q faster-whisper safetensors
"$out/bin/python" "$here/convert.py" "$checkpoint" "$out/base-ct2"
# compiled from source, so that it uses all that this processor has
"$out/bin/pip" install -q --no-binary pywhispercpp pywhispercpp || echo "whisper.cpp could not be built (cmake and a C++ compiler are needed); faster-whisper is ready" >&2
"$out/bin/python" "$here/convert_ggml.py" "$checkpoint" "$out/ggml-base.bin"
