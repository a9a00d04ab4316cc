# One image for every service: the callgate binary, a nats-server, and the interpreters that jobs run in.
# `make image` builds both binaries first; nothing is compiled in here.
ARG BASE=debian:bookworm-slim
FROM ${BASE}

RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends \
      ca-certificates libseccomp2 nodejs python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --home-dir /var/lib/callgate --create-home callgate

COPY bin/callgate bin/nats-server /usr/local/bin/

# Every role but the executor runs without privileges; compose.yaml gives the executor what it needs.
RUN mkdir /data && chown callgate:callgate /data

USER callgate
WORKDIR /var/lib/callgate
ENTRYPOINT ["callgate"]
CMD ["--help"]
