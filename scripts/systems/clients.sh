#!/bin/sh
# Generates clients from the OpenAPI document with common generators, compiles them strictly, and lints the document; prints a table.
# Requires node, java, go, python3 with venv, and the package registries. Takes minutes. Writes only to $WORK.
#   scripts/systems/clients.sh [DOCUMENT]      prints the last section of docs/clients.md; DOCUMENT defaults to test/api/openapi.json
set -u
cd "$(dirname "$0")/../.." || exit 1
DOCUMENT=$(realpath "${1:-test/api/openapi.json}")
WORK=${WORK:-/tmp/longhand-clients}
GENERATOR=7.25.0 HEY=0.90.0
mkdir -p "$WORK" && cd "$WORK" || exit 1
cp "$DOCUMENT" openapi.json

# --- tools
[ -f generator.jar ] || curl -sSfo generator.jar "https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/$GENERATOR/openapi-generator-cli-$GENERATOR.jar"
[ -d node_modules ] || npm install --silent --no-audit --no-fund --prefix . @redocly/cli@2 @stoplight/spectral-cli@6 openapi-typescript@7 openapi-fetch@0.17 \
  "@hey-api/openapi-ts@$HEY" typescript@5.9 @types/node@20 >&2
[ -d venv ] || { python3 -m venv venv && venv/bin/pip -q install openapi-spec-validator openapi-python-client mypy httpx attrs pydantic python-dateutil urllib3 \
  types-python-dateutil >&2; }
[ -f oapi-codegen ] || GOBIN=$WORK go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@latest >&2
BIN=$WORK/node_modules/.bin

failed=0
# row NAME LOG STEPS…: runs the steps until one fails, and prints a line of the table
row() {
  name=$1; shift; line="| $name |"
  for step in "$@"; do
    if (eval "$step") >"log-$(echo "$name" | tr -c 'a-z0-9\n' -).txt" 2>&1; then line="$line yes |"; else line="$line **no** |"; failed=1; break; fi
  done
  echo "$line"
}
typescript() { # FOLDER: strict, its own sources included
  printf '{"compilerOptions":{"strict":true,"noEmit":true,"target":"es2022","module":"esnext","moduleResolution":"bundler","lib":["es2022","dom","dom.iterable"],"types":["node"],"skipLibCheck":true},"include":["**/*.ts"]}' >"$1/tsconfig.json"
  "$BIN/tsc" -p "$1"
}
generate() { rm -rf "$1"; java -jar generator.jar generate -i openapi.json -g "$1" -o "$1" ${2:-}; }

echo '## Generated clients'
echo
echo 'Printed by `scripts/systems/clients.sh`. Compiled: `tsc` strict, `mypy`, `go vet`.'
echo
echo '| linter | clean |'; echo '|---|---|'
row 'openapi-spec-validator' 'venv/bin/openapi-spec-validator openapi.json'
row 'redocly' '"$BIN/redocly" lint openapi.json --extends recommended'
printf 'extends: ["spectral:oas"]\n' >spectral.yaml
row 'spectral (oas)' '"$BIN/spectral" lint -F warn -r spectral.yaml openapi.json'
echo
echo '| tool | generates | compiles |'; echo '|---|---|---|'
row 'openapi-generator, python' 'generate python' 'venv/bin/mypy --ignore-missing-imports python/openapi_client'
row 'openapi-generator, typescript-fetch' 'generate typescript-fetch' 'typescript typescript-fetch'
row 'openapi-generator, go' 'generate go --additional-properties=packageName=longhand' 'cd go && rm -rf test && go mod tidy && go vet ./...'
# this option makes the tool treat unknown content types, and those it considers text, as bytes
cat >opc.yaml <<'YAML'
content_type_overrides:
  application/zip: application/octet-stream
  text/markdown: application/octet-stream
  text/plain: application/octet-stream
  application/x-subrip: application/octet-stream
  text/vtt: application/octet-stream
YAML
row 'openapi-python-client' 'venv/bin/openapi-python-client generate --path openapi.json --output-path opc --meta none --config opc.yaml --overwrite' 'venv/bin/mypy opc'
row 'openapi-typescript with openapi-fetch' 'mkdir -p oats && "$BIN/openapi-typescript" openapi.json -o oats/schema.d.ts' \
  'cp "$OLDPWD/test/api/openapi/clients/openapi-fetch.ts" oats/client.ts && typescript oats'
row '@hey-api/openapi-ts' 'rm -rf hey && "$BIN/openapi-ts" -i openapi.json -o hey -c @hey-api/client-fetch' 'typescript hey'
row 'oapi-codegen' 'mkdir -p oapi && ./oapi-codegen -generate types,client -package longhand -o oapi/client.go openapi.json' \
  'cd oapi && { [ -f go.mod ] || go mod init longhand; } && go mod tidy && go vet ./...'
echo
echo 'The client of openapi-typescript with openapi-fetch also uploads, reads, lists by metadata, exports, asks for a report and deletes, in `npm test`.'
echo 'openapi-python-client takes exports as bytes with `--config` and this file:'
echo; echo '```yaml'; cat opc.yaml; echo '```'
exit $failed
