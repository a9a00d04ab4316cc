module callgate.dev/cmd/callgate

go 1.26

require (
	callgate.dev/dispatcher v0.0.0
	callgate.dev/executor v0.0.0
	callgate.dev/planner v0.0.0
	callgate.dev/schemas v0.0.0
	callgate.dev/streams v0.0.0
	callgate.dev/verifier v0.0.0
)

replace (
	callgate.dev/dispatcher => ../../dispatcher
	callgate.dev/executor => ../../executor
	callgate.dev/planner => ../../planner
	callgate.dev/schemas => ../../schemas
	callgate.dev/streams => ../../streams
	callgate.dev/verifier => ../../verifier
)
