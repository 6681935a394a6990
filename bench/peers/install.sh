#!/bin/sh
# Installs faster-whisper and whisper.cpp (compiled natively) from PyPI into a separate virtual environment, with the same weights.
#   bench/peers/install.sh CHECKPOINT_FOLDER     (config.json, generation_config.json, tokenizer.json, model.safetensors of openai/whisper-base)
# Into $BENCH_PEERS, else .longhand/peers. Needs python3 with venv and a C++ compiler; reaches the package registry only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_PEERS:-$here/../../.longhand/peers}
checkpoint=${1:?"give the folder of the openai/whisper-base checkpoint"}
[ -f "$checkpoint/model.safetensors" ] || { echo "Cannot install the peers: $checkpoint/model.safetensors is missing; give the folder of the openai/whisper-base checkpoint" >&2; exit 2; }
mkdir -p "$out"
[ -x "$out/bin/python" ] || python3 -m venv "$out"
"$out/bin/pip" install -q faster-whisper safetensors
"$out/bin/python" "$here/convert.py" "$checkpoint" "$out/base-ct2"
# Compiled from source to use all CPU features, and linked statically, so that no library has to be found later.
unset SOURCE_DATE_EPOCH # if set, it disables native code
CMAKE_ARGS='-DGGML_NATIVE=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DWHISPER_BUILD_EXAMPLES=OFF -DWHISPER_BUILD_TESTS=OFF' \
  "$out/bin/pip" install -q --no-binary pywhispercpp pywhispercpp || {
  echo "Cannot build whisper.cpp: a C++ compiler is needed. faster-whisper is ready" >&2
  exit 1
}
"$out/bin/python" "$here/convert_ggml.py" "$checkpoint" "$out/ggml-base.bin" f16
"$out/bin/python" "$here/convert_ggml.py" "$checkpoint" "$out/ggml-base-q8_0.bin" q8_0
