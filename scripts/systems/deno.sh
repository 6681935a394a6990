#!/bin/sh
# Tests the sources under Deno, installed from npm into a temporary folder: type check, command line, one transcription.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --no-save --no-audit --no-fund deno@2
# The package starts the platform's binary even if its install script did not run.
PATH="$folder/node_modules/.bin:$PATH"
export PATH
deno --version
npx tap test/deno.test.ts test/deno-types.long.test.ts
