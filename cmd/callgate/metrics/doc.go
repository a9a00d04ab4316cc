// Package metrics counts what a process does, for Prometheus.
//
// Counters are moved when an event is on the log, not when a handler returns:
// a delivery that was handled twice counts once. They are a process's own, and
// a query sums them over processes.
//
//	fc_turn_total                       counter    answers of a model
//	fc_tool_call_attempt{tool}          counter    calls that passed the walls and ran
//	fc_tool_call_success{tool}          counter    … and returned what their contract says
//	fc_tool_call_timeout{tool}          counter    … and ran out of time
//	fc_tool_call_failed{tool}           counter    … and ended in any other error
//	fc_tool_call_rejected{class}        counter    calls that a wall refused; nothing ran
//	fc_parse_failure                    counter    answers, and arguments of calls, that could not be read
//	fc_registry_unavailable             gauge      tools that are out for their health
//	fc_pending_calls                    gauge      calls in the hands of this process's workers
//	fc_inject_latency_ms                histogram  from the last result of a round to the request that shows it to the model
//	callgate_jobs_total{state,class}    counter    jobs that came to rest: completed, failed, awaiting_human
//	callgate_degradations_total{step,class} counter retries of runs and changes of mode, by what had failed
//	callgate_deliveries_total{state,outcome} counter what the loop did with a delivery
//	callgate_handle_seconds{state}      histogram  from a delivery to its decision
//
// A tool is named as in its contract, with its version. What a model made up
// has no tool: such a call is rejected. So the labels have as many values as
// the registry has tools, and no tenant or model can add to them.
package metrics
