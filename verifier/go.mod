module callgate.dev/verifier

go 1.26

require callgate.dev/schemas v0.0.0

replace callgate.dev/schemas => ../schemas
