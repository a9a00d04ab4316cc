// Package service finds the tools that are NATS micro services, and calls them.
//
//	$SRV.INFO, every few seconds ─► instances ─► contracts ─► registry
//	                                    │ a check that fails, no instance, two contracts: out, with the reason
//	call ─► callgate.tool.<name>.<version> ─► one instance of the queue group ─► result
//
// A tool is an endpoint on [streams.ToolSubject] whose metadata, or whose
// service's, holds its contract under [Metadata]. A contract that is too large
// to be told to everyone who asks for services is left out of the metadata, and
// given on [streams.ToolContractSubject]. Where an endpoint is on
// [streams.ToolHealthSubject], its answer decides whether the tool is in.
//
// A call is a request whose data is the arguments, and whose headers are those
// of call.go. The answer's data is the result as JSON, or the answer is an
// error as micro services have them: code 400 for arguments that the tool does
// not take, 403 for a caller that it refuses, any other for a failure.
//
// What holds, and what does not: anyone who may subscribe on callgate.tool.>
// can be a tool. So a tool never takes a name that another source has, nor one
// that reads like it; never a subject but that of its name and version; and a
// version has one contract: while two instances disagree the version is out,
// since the server would give calls to either. What a tool says is held to the
// contract's return_schema. That an instance is who it says is for the server's
// accounts and permissions to see to.
package service
