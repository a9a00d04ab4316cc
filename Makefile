# Two commands matter: `make demo` and `make test`. Both install what is missing.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

MODULES := schemas streams planner dispatcher executor verifier cmd/callgate
HELPER  := executor/sandbox/helper/sandbox-helper
SUDO    := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# What a bare Debian needs beside Go, gcc and git. Node may have come from
# elsewhere than Debian, so it is looked for by name.
PACKAGES := libc6-dev pkg-config libseccomp-dev python3
COMMANDS := node:nodejs npm:npm

.PHONY: setup build demo test unit race isolated lint humaneval bench doctor clean

setup: ## install what is missing: Debian packages, npm packages, Go modules
	@missing=(); \
	for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing+=($$p); done; \
	for c in $(COMMANDS); do command -v $${c%%:*} >/dev/null || missing+=($${c##*:}); done; \
	if (($${#missing[@]})); then \
	  echo "installing $${missing[*]}"; \
	  $(SUDO) apt-get update -q; \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$${missing[@]}"; \
	fi
	@go work sync 2>/dev/null || true
	@go mod download

build: $(HELPER) ## bin/callgate
	go build -trimpath -o bin/callgate ./cmd/callgate

$(HELPER): $(wildcard executor/sandbox/helper/*.c executor/sandbox/helper/*.h)
	gcc -O2 -Wall -Wextra -Werror -static -s -o $@ $(filter %.c,$^)

clean:
	rm -rf bin $(HELPER)
