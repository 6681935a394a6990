#!/bin/sh
# Measures the speed of CTC and transducer models beside onnx-asr, on the same sound: families-speed.sh NAME…, models that parity.sh made.
# onnx-asr runs their 8-bit form as it is published, made by onnxruntime's quantize_dynamic; Longhand imports the float32 files.
# Environment: WORK, as for parity.sh; MINUTES of English speech (10); THREADS (the number of cores).
set -eu
test $# -gt 0 || { sed -n '2,4s/^# //p' "$0"; exit 2; }
cd "$(dirname "$0")/../.."
WORK=${WORK:-/tmp/longhand-parity}
"$WORK/venv/bin/pip" install -q 'onnx-asr==0.12.0' >&2
for name in "$@"; do
  [ -f "$WORK/$name/int8/config.json" ] || "$WORK/venv/bin/python" scripts/systems/parity/quantise.py "$WORK/$name/model" "$WORK/$name/int8" >&2
done
exec node --import tsx scripts/systems/parity/speed.ts "$WORK" "${MINUTES:-10}" "${THREADS:-$(nproc)}" "$@"
