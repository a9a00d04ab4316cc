module callgate.dev/schemas

go 1.26

require (
	github.com/agnivade/levenshtein v1.2.2
	github.com/go-json-experiment/json v1.27.2
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1
	pgregory.net/rapid v1.3.0
)
