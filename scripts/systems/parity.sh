#!/bin/sh
# Compares the CTC and transducer families with NeMo and GigaAM: networks of their own classes with random weights, exported by their own
# exporters and imported here, must give the same features, encoder output and greedy tokens on 50 clips.
# Usage: parity.sh [NAME…], names as in parity/reference.py; default: the small ones. Those of 0.6 billion parameters take 12 GB of memory.
# Requires node, ffmpeg, python3.11 with venv, and PyPI: 7 GB in $WORK. GIGAAM is the path of a checkout of GigaAM's repository, whose
# version 3 is not on PyPI; without it only version 2 can be compared.
set -eu
cd "$(dirname "$0")/../.."
WORK=${WORK:-/tmp/longhand-parity}
small='ctc-small rnnt-small tdt-small gigaam-v2-small'
[ -z "${GIGAAM:-}" ] || small="$small gigaam-v3-small"
[ $# -gt 0 ] || set -- $small
mkdir -p "$WORK"
[ -d "$WORK/venv" ] || python3 -m venv "$WORK/venv"
"$WORK/venv/bin/pip" install -q 'torch==2.6.0' 'torchaudio==2.6.0' 'nemo_toolkit[asr]==2.5.3' 'pyarrow<20' onnx onnxruntime >&2
"$WORK/venv/bin/pip" install -q --no-deps 'gigaam==0.1.0' >&2
node --import tsx scripts/systems/parity/clips.ts "$WORK" 50
PYTHONPATH=${GIGAAM:-} "$WORK/venv/bin/python" scripts/systems/parity/reference.py "$WORK" "$@"
node --import tsx scripts/systems/parity/compare.ts "$WORK" "$@"
