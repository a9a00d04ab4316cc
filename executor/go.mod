module callgate.dev/executor

go 1.26.0

require (
	callgate.dev/schemas v0.0.0
	github.com/seccomp/libseccomp-golang v0.11.1
	golang.org/x/sync v0.25.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
)

replace callgate.dev/schemas => ../schemas
