#!/bin/sh
# Replaces the text between `<!-- NAME -->` and `<!-- /NAME -->` in a page with the content of a file: into-docs.sh NAME FILE PAGE
set -eu
awk -v name="$1" -v file="$2" '
  $0 == "<!-- /" name " -->" { inside = 0 }
  !inside
  $0 == "<!-- " name " -->" { inside = 1; while ((getline line <file) > 0) print line }
' "$3" >"$3.new"
mv "$3.new" "$3"
