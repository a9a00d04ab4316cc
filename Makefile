# Two commands matter: `make demo` and `make test`. Both install what is missing.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

MODULES   := schemas streams planner dispatcher executor verifier cmd/callgate examples/tools/go
HELPER    := executor/sandbox/helper/sandbox-helper
ZYGOTE    := executor/sandbox/helper/sandbox-helper.so
AUDIT     := executor/sandbox/helper/audit/callgate-audit.so
HUMANEVAL ?= ../shared/data/humaneval.jsonl
SUDO      := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
export CALLGATE_HUMANEVAL ?= $(abspath $(HUMANEVAL))

# What a bare Debian needs beside Go, gcc and git. Node may have come from elsewhere than Debian, so it is looked for by
# its command. Tests also need npm, for clients that nobody here wrote.
PACKAGES := libc6-dev pkg-config libseccomp-dev python3
test: PACKAGES += python3-requests
COMMANDS := node:nodejs
test demo: COMMANDS += npm:npm
# A small machine of its own, for what this machine's kernel may not have.
test-cgroup2: PACKAGES += busybox-static cpio
test-cgroup2: COMMANDS += qemu-system-$(shell uname -m):$(if $(filter x86_64,$(shell uname -m)),qemu-system-x86,qemu-system-arm)

.PHONY: setup build demo test test-cgroup2 race isolated lint humaneval bench image compose-test clean help

help: ## what there is to make
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: ## installs the Debian packages that are missing
	@missing=(); \
	for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing+=($$p); done; \
	for c in $(COMMANDS); do command -v $${c%%:*} >/dev/null || missing+=($${c##*:}); done; \
	if (($${#missing[@]})); then \
	  echo "installing $${missing[*]}"; \
	  $(SUDO) apt-get update -q; \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$${missing[@]}" || { echo "cannot install $${missing[*]}, without which this target proves nothing"; exit 1; }; \
	fi

build: $(HELPER) $(ZYGOTE) $(AUDIT) ## bin/callgate
	go build -trimpath -o bin/callgate ./cmd/callgate

$(HELPER): $(wildcard executor/sandbox/helper/*.c executor/sandbox/helper/*.h)
	gcc -O2 -Wall -Wextra -Werror -static -s -o $@ $(filter-out %/zygote.c,$(filter %.c,$^))

$(ZYGOTE): $(wildcard executor/sandbox/helper/*.c executor/sandbox/helper/*.h)
	gcc -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -s -o $@ \
	  $(filter %/run.c %/user.c %/landlock.c %/notify.c %/flock.c %/locks.c %/devices.c %/hosts.c %/wire.c %/zygote.c,$^)

$(AUDIT): $(wildcard executor/sandbox/helper/audit/*.c executor/sandbox/helper/audit/*.h)
	gcc -O2 -Wall -Wextra -Werror -fPIC -shared -s -Wl,-z,now -o $@ $(filter %.c,$^)

demo: setup build ## runs the bundled jobs through all five states
	@examples/demo/run.sh bin/callgate

# Prometheus's own checker of alert rules, without the server that its package would start.
.tools/promtool:
	@d=$$(mktemp -d); trap 'rm -rf $$d' EXIT; chmod 755 $$d; cd $$d; \
	apt-get download -q prometheus || { $(SUDO) apt-get update -q; apt-get download -q prometheus; }; \
	dpkg-deb -x prometheus_*.deb . ; mkdir -p $(CURDIR)/.tools; cp usr/bin/promtool $(CURDIR)/$@

test: setup build .tools/promtool ## every test, the sandbox's included
	go vet work
	go test -timeout 20m work

test-cgroup2: setup build ## the sandbox on cgroup v2 alone, in a small virtual machine; ALL=1 runs its whole package there
	executor/sandbox/microvm/test $(if $(ALL),all)

humaneval: setup build ## the 164 HumanEval problems with recorded answers, compared with the data
	@examples/humaneval/run.sh $(HUMANEVAL) bin/callgate

race: setup build ## the tests of what runs concurrently, under the race detector
	cd streams && go test -race -timeout 20m ./...
	cd executor && go test -race -timeout 20m ./sandbox/network ./machine ./workspace

isolated: setup build ## every module by itself: an import that the rules forbid fails here
	@for m in $(MODULES); do echo "GOWORK=off $$m"; (cd $$m && GOWORK=off go vet ./...); done

lint: setup ## formatting, and golangci-lint
	@unformatted=$$(gofmt -l $(MODULES)); [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	@for m in $(MODULES); do (cd $$m && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run --config $(CURDIR)/.golangci.yml ./...); done

bench: setup build ## the project's own benchmarks
	bin/callgate bench log
	bin/callgate bench pipeline
	bin/callgate bench sandbox

image: setup build ## the container image; BASE=… for another base than debian:bookworm-slim
	cd streams && CGO_ENABLED=0 go build -trimpath -o ../bin/nats-server github.com/nats-io/nats-server/v2
	docker build $(if $(BASE),--build-arg BASE=$(BASE)) -t callgate:latest .

compose-test: setup build ## compose.yaml on this machine's engine: batches while nodes and an executor are killed; some minutes
	compose/base.sh
	$(MAKE) image
	compose/try.sh $(wildcard $(HUMANEVAL))

clean: ## removes what was built
	rm -rf bin $(HELPER) $(ZYGOTE) $(AUDIT)
