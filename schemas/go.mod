module callgate.dev/schemas

go 1.26

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
