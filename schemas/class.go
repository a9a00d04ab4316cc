package schemas

import (
	"maps"
	"slices"
)

// Class says what kind of thing went wrong. The list is closed: operators
// filter and replay by it, so a new kind of failure gets a class here first.
type Class string

const (
	ClassModelTimeout           Class = "model_timeout"
	ClassModelRateLimited       Class = "model_rate_limited"
	ClassModelUnavailable       Class = "model_unavailable"
	ClassModelRefused           Class = "model_refused"
	ClassModelOutputUnparseable Class = "model_output_unparseable"

	ClassUnknownTool      Class = "unknown_tool"
	ClassArgumentsInvalid Class = "arguments_invalid"
	ClassToolDenied       Class = "tool_denied"
	ClassToolTimeout      Class = "tool_timeout"
	ClassToolFailed       Class = "tool_failed"
	ClassOutcomeUnknown   Class = "outcome_unknown"

	ClassCodeRejected  Class = "code_rejected"
	ClassSyntaxError   Class = "syntax_error"
	ClassRuntimeError  Class = "runtime_error"
	ClassWallTimeout   Class = "wall_timeout"
	ClassCPUTimeout    Class = "cpu_timeout"
	ClassOutOfMemory   Class = "out_of_memory"
	ClassOutputLimit   Class = "output_limit"
	ClassDiskLimit     Class = "disk_limit"
	ClassProcessLimit  Class = "process_limit"
	ClassSyscallDenied Class = "syscall_denied"

	ClassSignatureMismatch Class = "signature_mismatch"
	ClassResultInvalid     Class = "result_invalid"
	ClassTestsFailed       Class = "tests_failed"
	ClassNoProgress        Class = "no_progress"

	ClassBudgetExhausted    Class = "budget_exhausted"
	ClassSandboxUnavailable Class = "sandbox_unavailable"
	ClassCancelled          Class = "cancelled"
	ClassDeadlineExceeded   Class = "deadline_exceeded"

	ClassSubmissionInvalid Class = "submission_invalid"
	ClassIDConflict        Class = "id_conflict"
	ClassTooLarge          Class = "too_large"
	ClassQuotaExceeded     Class = "quota_exceeded"

	ClassInternal Class = "internal"
)

// Policy is what the pipeline does about a class.
type Policy string

const (
	// PolicyRetry tries the same step again, with backoff.
	PolicyRetry Policy = "retry"
	// PolicyReplan tells the model and lets it answer again.
	PolicyReplan Policy = "replan"
	// PolicyFail ends the job.
	PolicyFail Policy = "fail"
	// PolicyHuman lets a person decide.
	PolicyHuman Policy = "human"
)

var policies = map[Class]Policy{
	ClassModelTimeout:           PolicyRetry,
	ClassModelRateLimited:       PolicyRetry,
	ClassModelUnavailable:       PolicyRetry,
	ClassModelRefused:           PolicyFail,
	ClassModelOutputUnparseable: PolicyReplan,

	ClassUnknownTool:      PolicyReplan,
	ClassArgumentsInvalid: PolicyReplan,
	ClassToolDenied:       PolicyReplan,
	ClassToolTimeout:      PolicyReplan,
	ClassToolFailed:       PolicyReplan,
	ClassOutcomeUnknown:   PolicyReplan,

	ClassCodeRejected:  PolicyReplan,
	ClassSyntaxError:   PolicyReplan,
	ClassRuntimeError:  PolicyReplan,
	ClassWallTimeout:   PolicyReplan,
	ClassCPUTimeout:    PolicyReplan,
	ClassOutOfMemory:   PolicyReplan,
	ClassOutputLimit:   PolicyReplan,
	ClassDiskLimit:     PolicyReplan,
	ClassProcessLimit:  PolicyReplan,
	ClassSyscallDenied: PolicyReplan,

	ClassSignatureMismatch: PolicyReplan,
	ClassResultInvalid:     PolicyReplan,
	ClassTestsFailed:       PolicyReplan,
	ClassNoProgress:        PolicyFail,

	ClassBudgetExhausted:    PolicyFail,
	ClassSandboxUnavailable: PolicyRetry,
	ClassCancelled:          PolicyFail,
	ClassDeadlineExceeded:   PolicyFail,

	ClassSubmissionInvalid: PolicyFail,
	ClassIDConflict:        PolicyFail,
	ClassTooLarge:          PolicyFail,
	ClassQuotaExceeded:     PolicyFail,

	ClassInternal: PolicyRetry,
}

// Known reports whether c is on the list.
func (c Class) Known() bool { _, ok := policies[c]; return ok }

// Policy returns what the pipeline does about c; an unknown class fails.
func (c Class) Policy() Policy {
	if p, ok := policies[c]; ok {
		return p
	}
	return PolicyFail
}

// Classes returns the whole list, sorted.
func Classes() []Class { return slices.Sorted(maps.Keys(policies)) }
