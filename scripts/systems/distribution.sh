#!/bin/sh
# Tests Node 22 and 24 on Debian 13 or Ubuntu 24.04: in a debootstrap tree with Node from npm, on a fresh clone of the last commit:
# `npm start` (which installs ffmpeg), one transcription and some of the tests (TESTS=all: every one).
#   sudo sh scripts/systems/distribution.sh debian13|ubuntu2404 [FOLDER]
# Requires root, debootstrap, git, npm, 8 GB. Without FOLDER the tree is removed at the end; an existing one is reused with the last commit.
# NODES="24" selects versions. Mounts and processes are in separate namespaces, so that none remains in any case.
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
case ${1:-} in
  debian13) suite=trixie script=trixie components=main mirror=${MIRROR:-http://deb.debian.org/debian} keys=debian-archive-keyring ;;
  ubuntu2404) suite=noble script=gutsy components=main,universe mirror=${MIRROR:-http://archive.ubuntu.com/ubuntu} keys=ubuntu-archive-keyring ;;
  *) echo 'usage: distribution.sh debian13|ubuntu2404 [FOLDER]' >&2; exit 2 ;;
esac
system=$1
kept=${2:-}
if [ -z "${LONGHAND_TREE:-}" ]; then
  tree=${kept:-$(mktemp -d "/var/tmp/longhand-$system.XXXXXX")}
  mkdir -p "$tree"
  if [ -z "$kept" ]; then trap 'rm -rf "$tree"' EXIT; fi
  LONGHAND_TREE=$(cd "$tree" && pwd) unshare --mount --pid --fork --kill-child sh "$0" "$@" &
  inside=$!
  trap 'kill -KILL $inside; wait $inside || exit 1' INT TERM
  wait $inside
  exit
fi
tree=$LONGHAND_TREE
unset LONGHAND_TREE
majors=${NODES:-22 24}
tests=${TESTS:-test/imports.test.ts test/db/secrets/vault.test.ts test/db/jobs/claim.test.ts test/api/http/server.test.ts test/engine/transcribe.test.ts}
test "$tests" != all || tests=
case $(uname -m) in x86_64) build=x64 ;; aarch64) build=arm64 ;; *) echo "There is no Node of npm for $(uname -m)" >&2; exit 1 ;; esac

chmod 755 "$tree"
if [ ! -e "$tree/etc/debian_version" ]; then
  # older hosts lack the newer Ubuntu names, which are all the same script
  signed=--keyring=/usr/share/keyrings/$keys.gpg
  if [ ! -e "${signed#*=}" ]; then echo "The packages are not verified: ${signed#*=} is not installed"; signed=--no-check-gpg; fi
  debootstrap --variant=minbase --components="$components" --include=ca-certificates,curl,git,procps "$signed" \
    "$suite" "$tree" "$mirror" "/usr/share/debootstrap/scripts/$script"
fi
cp /etc/resolv.conf "$tree/etc/resolv.conf"
printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$tree/etc/hosts" # normally written by an installer
mkdir -p "$tree/srv/home/.cache/longhand-tests/bin"
if [ -e "$HOME/.npmrc" ]; then cp "$HOME/.npmrc" "$tree/srv/home/"; fi # the registry of this host
# additional certificate authorities of this host, for example of a company proxy
find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$tree/usr/local/share/ca-certificates/" \;
chroot "$tree" update-ca-certificates >/dev/null
# test programs built with Go, which these systems lack; they are self-contained
fetched=${XDG_CACHE_HOME:-$HOME/.cache}/longhand-tests/bin
for program in versitygw helm; do
  if [ -e "$fetched/$program" ]; then cp "$fetched/$program" "$tree/srv/home/.cache/longhand-tests/bin/"; fi
done
mount -t proc proc "$tree/proc"
mount --bind /dev "$tree/dev"
mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm"

cat >"$tree/srv/prove.sh" <<'INSIDE'
set -eu
cd "/srv/longhand-$1"
export PATH="/opt/node-$1/bin:$PATH" HOME=/srv/home NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt LONGHAND_HOME="/srv/state-$1"
rm -rf "$LONGHAND_HOME" # from an earlier run: only the first start prints a key
echo "== $(. /etc/os-release && echo "$PRETTY_NAME"), Node $(node --version), npm $(npm --version)"
npm start -- --port 0 >"/tmp/out-$1" 2>"/tmp/err-$1" &
started=$!
trap 'kill $started 2>/dev/null || true' EXIT
for _ in $(seq 1200); do
  url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "/tmp/out-$1" | head -1)
  test -z "$url" || break
  kill -0 $started 2>/dev/null || break
  sleep 1
done
test -n "$url" || { cat "/tmp/out-$1" "/tmp/err-$1"; exit 1; }
key=$(grep -o 'lh_[0-9A-Za-z]*' "/tmp/out-$1" | head -1)
id=$(curl -sSf -H "Authorization: Bearer $key" -H 'Content-Disposition: attachment; filename="a.wav"' --data-binary @bench/data/two-speakers.wav \
  "$url/v1/transcriptions" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
for _ in $(seq 3600); do
  record=$(curl -sSf -H "Authorization: Bearer $key" "$url/v1/transcriptions/$id")
  case $record in *'"status":"queued"'* | *'"status":"processing"'*) sleep 1 ;; *) break ;; esac
done
case $record in *'"status":"completed"'*) echo "ok Node $1 transcribes" ;; *) echo "$record"; exit 1 ;; esac
curl -sSf -H "Authorization: Bearer $key" "$url/v1/transcriptions/$id/export?format=txt"
kill -TERM $started && wait $started || true
trap - EXIT
shift
if [ $# -gt 0 ]; then npx tap "$@"; else npm test; fi
INSIDE

for major in $majors; do
  npm install --prefix "$tree/opt/npm-$major" --no-save --no-audit --no-fund --ignore-scripts "node-linux-$build@$major" npm@10
  mkdir -p "$tree/opt/node-$major/bin"
  cp "$tree/opt/npm-$major/node_modules/node-linux-$build/bin/node" "$tree/opt/node-$major/bin/node"
  for name in npm npx; do ln -sf "/opt/npm-$major/node_modules/npm/bin/$name-cli.js" "$tree/opt/node-$major/bin/$name"; done
  clone=$tree/srv/longhand-$major
  if [ ! -e "$clone" ]; then git clone --quiet --no-hardlinks "$repository" "$clone"; fi
  git -C "$clone" fetch --quiet origin HEAD
  git -C "$clone" checkout --quiet --force --detach FETCH_HEAD
  # shellcheck disable=SC2086  # a list of files
  chroot "$tree" sh /srv/prove.sh "$major" $tests
done
echo "ok Node $majors on $system"
