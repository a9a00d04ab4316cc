#!/usr/bin/env bash
# Makes sure that the engine has the base image, debian:bookworm-slim: where it does not and no registry is in reach, one
# is made of Debian's own packages. Needs debootstrap and root for that.
set -euo pipefail

image=debian:bookworm-slim
docker image inspect "$image" >/dev/null 2>&1 && exit
timeout 60 docker pull -q "$image" && exit
echo "no registry in reach: making $image with debootstrap"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$root.log" || { tail "$root.log"; exit 1; }
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root.log"
tar -C "$root" -c . | docker import - "$image" >/dev/null
