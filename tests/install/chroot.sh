#!/bin/bash
# Installs the .deb in fresh chroots of distributions and compares what its program prints with what the build's does.
# Needs root, debootstrap, the distributions' archives, and about 500 MB in a folder for each; takes minutes.
#
#   tests/install/chroot.sh FOLDER SUITE...     SUITE: bookworm, trixie or noble; FOLDER/SUITE is kept for the next run
set -eu
root=$(dirname "$(readlink -f "$0")")/../..
[[ $# -ge 2 ]] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
((EUID == 0)) || { echo "chroot.sh: needs root" >&2; exit 2; }
command -v debootstrap > /dev/null || { echo "chroot.sh: install debootstrap" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$root/build/release" && cpack -G DEB -B "$work" > "$work/log") || { cat "$work/log" >&2; exit 1; }
deb=$(echo "$work"/perfc_*.deb)
if command -v lintian > /dev/null; then
  lintian --fail-on error,warning "$deb" && echo "lintian: no error, no warning"
fi
expected=$(cd "$root/examples" && ../build/release/perfc resnet50.onnx --batch 32 --json | sha256sum)

failed=0
for suite in "$@"; do
  to=$folder/$suite
  if [[ ! -e $to/etc/os-release ]]; then
    case $suite in
      noble) # Debian has no keys of Ubuntu, and no script of this name
        debootstrap --variant=minbase --no-check-gpg --components=main,universe noble "$to" \
          http://archive.ubuntu.com/ubuntu /usr/share/debootstrap/scripts/gutsy > "$work/log" ;;
      *) debootstrap --variant=minbase "$suite" "$to" http://deb.debian.org/debian > "$work/log" ;;
    esac
  fi
  cp "$deb" "$root/examples/resnet50.onnx" "$to/tmp/"
  chroot "$to" sh -c 'export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; apt-get purge -y -qq perfc; \
    apt-get install -y -qq --no-install-recommends "/tmp/$1"' sh "${deb##*/}" > "$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
  printed=$(chroot "$to" sh -c 'cd /tmp && perfc resnet50.onnx --batch 32 --json' | sha256sum)
  name=$(. "$to/etc/os-release" && echo "$PRETTY_NAME")
  if [[ $printed == "$expected" ]]; then
    echo "$name: installed, same answer"
  else
    echo "$name: ANOTHER ANSWER"
    failed=1
  fi
done
exit $failed
