#!/bin/sh
# Runs the steps of scripts/deploy/Dockerfile without Docker, on the last commit, in a clean folder, and starts the result.
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
file=$repository/scripts/deploy/Dockerfile
work=$(mktemp -d)
started=
trap 'test -z "$started" || kill "$started" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/all" "$work/app"
git -C "$repository" archive HEAD | tar -x -C "$work/all"
grep -v '^$' "$repository/.dockerignore" | while read -r ignored; do rm -rf "$work/all/${ignored:?}"; done
cd "$work/app"

# COPY of single files comes before the packages, COPY of everything after them, as in the image.
sed -n 's/^COPY \(.*\) [^ ]*$/\1/p' "$file" | tr ' ' '\n' | grep -v '^\.$' | while read -r name; do
  mkdir -p "$(dirname "$name")"
  cp -R "$work/all/$name" "$(dirname "$name")/"
done
packages=$(sed -n 's/^RUN \(npm ci[^&]*\).*/\1/p' "$file")
echo "+ $packages"
$packages --no-audit --no-fund
cp -R "$work/all/." .
prepare=$(sed -n 's/^RUN \(node [^&]*\).*/\1/p' "$file")
echo "+ $prepare"
$prepare

LONGHAND_HOME=$work/state PORT=0 ./scripts/longhand up >"$work/out" 2>"$work/err" &
started=$!
for _ in $(seq 120); do
  url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "$work/out" | head -1)
  test -z "$url" || break
  kill -0 "$started" 2>/dev/null || { cat "$work/err"; exit 1; }
  sleep 1
done
test -n "$url" || { echo 'the service is not listening after 120 s'; cat "$work/err"; exit 1; }
for page in healthz readyz docs docs/guides v1/openapi.json ''; do curl -sSf -o /dev/null "$url/$page" && echo "ok $url/$page"; done
kill -TERM "$started"
wait "$started" && echo 'ok the service shuts down cleanly'
started=
