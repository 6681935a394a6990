#!/bin/sh
# Checks the OpenAPI document with linters, generates clients with common generators, compiles them strictly, and lets each take a
# recording from upload to deletion on a Longhand that this script starts; then tests OpenAI's Python client, and
# runs a fuzzer. Writes the tables into docs/clients.md.
# Requires node, java, go, python3 with venv, the package registries, and on Node 20 haproxy. Takes 10 minutes. Tools, clients and logs are
# kept in $WORK.
set -u
cd "$(dirname "$0")/../.." || exit 1
ROOT=$PWD JOURNEYS=$PWD/scripts/systems/clients
WORK=${WORK:-/tmp/longhand-clients}
GENERATOR=7.25.0 OAPI=v2.8.2 OGEN=v1.24.0
mkdir -p "$WORK" && cd "$WORK" || exit 1
rm -f log-*
BIN=$WORK/node_modules/.bin

# --- tools
[ -f generator.jar ] || curl -sSfo generator.jar "https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/$GENERATOR/openapi-generator-cli-$GENERATOR.jar"
npm install --silent --no-audit --no-fund --prefix . @redocly/cli@2 @stoplight/spectral-cli@6 openapi-typescript@7 openapi-fetch@0.17 \
  @hey-api/openapi-ts@0.90.0 orval@7 axios@1.12 typescript@5.9 @types/node@20 >&2
[ -d venv ] || python3 -m venv venv
venv/bin/pip -q install openapi-spec-validator openapi-python-client mypy httpx attrs pydantic python-dateutil urllib3 types-python-dateutil openai schemathesis >&2
[ -f oapi-codegen ] || GOBIN=$WORK go install "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$OAPI" >&2
[ -f ogen ] || GOBIN=$WORK go install "github.com/ogen-go/ogen/cmd/ogen@$OGEN" >&2

# --- the service
state=$(mktemp -d) service= proxy=
trap 'kill $proxy $service; wait $service; rm -rf "$state"' EXIT
trap 'exit 1' INT TERM
LONGHAND_HOME=$state LONGHAND_METRICS=127.0.0.1:0 LONGHAND_RATE_LIMIT=0 PORT=0 "$ROOT/scripts/longhand" up >log-service.txt 2>&1 &
service=$!
for _ in $(seq 240); do
  BASE=$(sed -n 's/^listening on \(http[^ ]*\).*/\1\/v1/p' log-service.txt)
  [ -z "$BASE" ] || break
  sleep 1
done
KEY=$(grep -o 'lh_[A-Za-z0-9]*' log-service.txt | head -n 1)
export BASE KEY FILE="$ROOT/bench/data/two-speakers.wav"
curl -sSf "$BASE/openapi.json" -o openapi.json || { cat log-service.txt >&2; exit 1; }
# The fuzzer sends header names such as `a.b`, to which the HTTP parser for Node 20 does not respond (docs/decisions/packages.md). There it
# goes through HAProxy, as scripts/deploy configures it.
FUZZED=$BASE through=
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
  command -v haproxy >/dev/null || { echo 'haproxy is not installed: install it, or use Node 22 or newer' >&2; exit 1; }
  own=$(node -p "new URL('$BASE').port") free=$(node -e "require('net').createServer().listen(0, function () { console.log(this.address().port); this.close() })")
  sed -e "s/8080/$free/" -e "s/808[12]/$own/" "$ROOT/scripts/deploy/haproxy.cfg" >haproxy.cfg
  haproxy -q -f haproxy.cfg & proxy=$!
  FUZZED=http://127.0.0.1:$free/v1 through=', through HAProxy on Node 20'
  curl -sSf --retry 20 --retry-delay 1 --retry-all-errors "$FUZZED/openapi.json" -o /dev/null || exit 1
fi

# --- the tables
failed=0
# row NAME STEPS…: runs the steps until one fails; prints a line of the table
row() {
  line="| $1 |"; log="log-$(echo "$1" | tr -c 'a-z\n' -).txt"; shift
  for step in "$@"; do
    if (eval "$step") >>"$log" 2>&1; then line="$line yes |"; else line="$line **no** |"; failed=1; break; fi
  done
  echo "$line"
}
of_npm() { node -p "require('$WORK/node_modules/$1/package.json').version"; }
of_pip() { venv/bin/pip show "$1" 2>/dev/null | sed -n 's/^Version: //p'; }
generate() { rm -rf "$1"; java -jar generator.jar generate -i openapi.json -g "$1" -o "$1" ${2:-}; }
typescript() { # FOLDER JOURNEY: strict, including the generated sources
  cp "$JOURNEYS/$2" "$1/journey.ts"
  printf '{"compilerOptions":{"strict":true,"noEmit":true,"target":"es2022","module":"esnext","moduleResolution":"bundler","lib":["es2022","dom","dom.iterable"],"types":["node"],"skipLibCheck":true},"include":["**/*.ts"]}' >"$1/tsconfig.json"
  "$BIN/tsc" -p "$1"
}
journey() { "$ROOT/node_modules/.bin/tsx" "$1/journey.ts"; }
python() { PYTHONPATH=$1 venv/bin/python "$JOURNEYS/$2"; }
# these options make the tool treat unknown content types, and those it considers text, as bytes
cat >opc.yaml <<'YAML'
content_type_overrides:
  application/zip: application/octet-stream
  text/markdown: application/octet-stream
  text/plain: application/octet-stream
  application/x-subrip: application/octet-stream
  text/vtt: application/octet-stream
YAML
printf 'extends: ["spectral:oas"]\n' >spectral.yaml

tables() {
  echo; echo '| linter | clean |'; echo '|---|---|'
  row "openapi-spec-validator $(of_pip openapi-spec-validator)" 'venv/bin/openapi-spec-validator openapi.json'
  row "redocly $(of_npm @redocly/cli)" '"$BIN/redocly" lint openapi.json --extends recommended'
  row "spectral (oas) $(of_npm @stoplight/spectral-cli)" '"$BIN/spectral" lint -F warn -r spectral.yaml openapi.json'
  echo; echo '| tool | generates | compiles | calls |'; echo '|---|---|---|---|'
  row "openapi-generator $GENERATOR, python" 'generate python' 'venv/bin/mypy --ignore-missing-imports python/openapi_client' \
    'python python openapi-generator.py'
  row "openapi-generator $GENERATOR, typescript-fetch" 'generate typescript-fetch' 'typescript typescript-fetch typescript-fetch.ts' \
    'journey typescript-fetch'
  row "openapi-generator $GENERATOR, go" 'generate go --additional-properties=packageName=longhand' \
    'cd go && rm -rf test && mkdir journey && cp "$JOURNEYS/openapi-generator.go" journey/main.go && go mod tidy && go vet ./...' 'cd go && go run ./journey'
  row "openapi-python-client $(of_pip openapi-python-client)" \
    'venv/bin/openapi-python-client generate --path openapi.json --output-path opc --meta none --config opc.yaml --overwrite' \
    'venv/bin/mypy opc' 'python . openapi-python-client.py'
  row "openapi-typescript $(of_npm openapi-typescript) with openapi-fetch $(of_npm openapi-fetch)" \
    'mkdir -p oats && "$BIN/openapi-typescript" openapi.json -o oats/schema.d.ts' \
    'cp "$ROOT/test/api/openapi/clients/openapi-fetch.ts" oats/client.ts && typescript oats openapi-fetch.ts' 'journey oats'
  row "@hey-api/openapi-ts $(of_npm @hey-api/openapi-ts)" 'rm -rf hey && "$BIN/openapi-ts" -i openapi.json -o hey -c @hey-api/client-fetch' \
    'typescript hey hey-api.ts' 'journey hey'
  row "orval $(of_npm orval), axios" 'rm -rf orval && "$BIN/orval" --input ./openapi.json --output ./orval/client.ts --client axios' \
    'typescript orval orval.ts' 'journey orval'
  row "ogen $OGEN" 'rm -rf ogen-go && mkdir -p ogen-go/client && ./ogen --target ogen-go/client --package longhand openapi.json' \
    'cp "$JOURNEYS/ogen.go" ogen-go/main.go && cd ogen-go && go mod init longhand && go mod tidy && go vet ./...' 'cd ogen-go && go run .'
  row "oapi-codegen $OAPI" 'rm -rf oapi && mkdir -p oapi/client && ./oapi-codegen -generate types,client -package longhand -o oapi/client/client.go openapi.json' \
    'cp "$JOURNEYS/oapi-codegen.go" oapi/main.go && cd oapi && go mod init longhand && go mod tidy && go vet ./...' 'cd oapi && go run .'
  echo; echo '| client | json, text, srt, vtt, verbose_json, diarized_json, errors |'; echo '|---|---|'
  row "openai $(of_pip openai), Python" 'python . openai-formats.py'
  echo; echo '| fuzzer | no 5xx, every response as described |'; echo '|---|---|'
  # its check that all valid data is accepted is left out: a schema cannot say that a body is audio, or a cursor one of ours
  row "schemathesis $(of_pip schemathesis)$through" 'venv/bin/schemathesis run openapi.json --url "$FUZZED" -H "Authorization: Bearer $KEY" \
    --checks all --exclude-checks positive_data_acceptance --max-examples 10 --no-color'
  echo
}
tables >clients-tables
sh "$ROOT/scripts/systems/into-docs.sh" clients clients-tables "$ROOT/docs/clients.md"
cat clients-tables
exit $failed
