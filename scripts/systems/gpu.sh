#!/bin/sh
# Measures Whisper checkpoints on a GPU and prints a Markdown table for docs/benchmarks.md: gpu.sh CHECKPOINT… (folders in the Hugging Face
# layout, such as those of base, small, medium and large-v3-turbo). They are imported as float16 into a temporary state folder.
# Environment: MINUTES of joined English speech (10); DEVICE and VARIANT (cuda, float16), to try the script without a GPU.
set -eu
test $# -gt 0 || { sed -n '2,4s/^# //p' "$0"; exit 2; }
longhand=$(cd "$(dirname "$0")/.." && pwd)/longhand
minutes=${MINUTES:-10} device=${DEVICE:-cuda} variant=${VARIANT:-float16}
LONGHAND_HOME=$(mktemp -d)
export LONGHAND_HOME LONGHAND_DEVICE="$device"
trap 'rm -rf "$LONGHAND_HOME"' EXIT
card=$device
if test "$device" = cuda; then
  "$longhand" gpu check
  card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
fi

names=
for checkpoint in "$@"; do
  name=$(basename "$checkpoint")-$variant
  "$longhand" models import "$checkpoint" --name "$name" --variant "$variant" --no-check >&2
  names="$names $name"
done

# The reference of relative times is also the model of the bench itself: the shipped 8-bit model does not run on a GPU.
first=${names# }
LONGHAND_MODEL=${first%% *} "$longhand" bench --no-speed --minutes "$minutes" --models $names --json >"$LONGHAND_HOME/report.json"
node - "$LONGHAND_HOME/report.json" "$card" "$variant" <<'PROGRAM'
const [file, card, variant] = process.argv.slice(2);
const { models, machine, threads, device } = JSON.parse(require('node:fs').readFileSync(file, 'utf8'));
console.log(`${card}, ${device}, ${variant}, ${threads} threads, beside ${machine}:\n`);
console.log('| model | recognition, min/h | RTFx | WER | peak memory of the host |');
console.log('| --- | --- | --- | --- | --- |');
for (const { name, minutesPerHour, wordErrorRate, peakMegabytes } of models) {
  const cells = [name, minutesPerHour.toFixed(2), (60 / minutesPerHour).toFixed(0), `${(100 * wordErrorRate.rate).toFixed(1)} %`];
  console.log(`| ${[...cells, `${(peakMegabytes / 1000).toFixed(1)} GB`].join(' | ')} |`);
}
PROGRAM
