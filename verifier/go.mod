module callgate.dev/verifier

go 1.26

require callgate.dev/schemas v0.0.0

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
)

replace callgate.dev/schemas => ../schemas
