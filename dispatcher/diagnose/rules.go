package diagnose

import "callgate.dev/dispatcher/repair"

// The repairs of a response's shape.
const (
	ChoicesObject   = "choices_object"
	ExtraChoices    = "extra_choices"
	FinishReason    = "finish_reason_unknown"
	ContentParts    = "content_parts"
	ToolCallsString = "tool_calls_string"
	ToolCallsObject = "tool_calls_object"
	CallString      = "call_string"
	FlatCall        = "flat_call"
	FunctionString  = "function_string"
	FunctionCall    = "function_call"
	MissingID       = "missing_id"
	NumericID       = "numeric_id"
	RepeatedID      = "repeated_id"
	MissingType     = "missing_type"
	WrongType       = "wrong_type"
	ObjectArguments = "object_arguments"
	CallKeys        = "call_keys"
	ContentJSON     = "content_json"
	ContentTag      = "content_tag"
	ContentFence    = "content_fence"
	UnclosedTag     = "unclosed_tag"
	ThinkingDropped = "thinking_dropped"
)

// The reasons why there is no answer, or no call where one was meant.
const (
	NotUTF8           = repair.NotUTF8
	EmptyResponse     = "empty_response"
	ResponseTruncated = "response_truncated"
	ResponseSyntax    = "response_syntax"
	EventStream       = "event_stream"
	ErrorResponse     = "error_response"
	NoChoices         = "no_choices"
	NoMessage         = "no_message"
	Refusal           = "refusal"
	ContentFilter     = "content_filter"
	AnswerTruncated   = "answer_truncated"
	FinishUnknown     = FinishReason
	ToolCallsShape    = "tool_calls_shape"
	MissingName       = "missing_name"
	NotACall          = "not_a_call"
	UnknownTool       = "unknown_tool"
	ToolDenied        = "tool_denied"
	ContractBroken    = "contract"
)

// Rules lists the repairs of a response's shape.
var Rules = []repair.Rule{
	{Name: ChoicesObject, Says: "choices is one object instead of an array"},
	{Name: ExtraChoices, Says: "there are several choices; the first is read"},
	{Name: FinishReason, Says: "finish_reason is a word that is not known, so the answer is not taken for finished and no bracket is added"},
	{Name: ContentParts, Says: "content is an array of parts; their texts are joined, thinking left out"},
	{Name: ToolCallsString, Says: "tool_calls is a string that holds JSON"},
	{Name: ToolCallsObject, Says: "tool_calls is one call instead of an array"},
	{Name: CallString, Says: "a call is a string that holds JSON"},
	{Name: FlatCall, Says: "name and arguments stand in the call itself, not under function"},
	{Name: FunctionString, Says: "function is a string that holds JSON"},
	{Name: FunctionCall, Says: "the call stands in function_call, the API's older field"},
	{Name: MissingID, Says: "a call has no ID; it is numbered"},
	{Name: NumericID, Says: "an ID is a number"},
	{Name: RepeatedID, Says: "two calls have the same ID; the later one gets a suffix"},
	{Name: MissingType, Says: "a call has no type; it is a function"},
	{Name: WrongType, Says: "a call has another type than function, and a function's shape"},
	{Name: ObjectArguments, Says: "arguments are an object instead of a string that holds JSON"},
	{Name: CallKeys, Says: "name or arguments have another key, such as tool, parameters or args"},
	{Name: ContentJSON, Says: "the call is the content itself, as JSON"},
	{Name: ContentTag, Says: "the call stands in the content between <tool_call> tags"},
	{Name: ContentFence, Says: "the call stands in the content in a ```json fence"},
	{Name: UnclosedTag, Says: "a <tool_call> tag is not closed, and whole JSON follows it"},
	{Name: ThinkingDropped, Says: "a thinking block beside the call was left out"},
}

// Reasons lists what ends in a fault.
var Reasons = []repair.Rule{
	{Name: NotUTF8, Says: "the bytes are not UTF-8"},
	{Name: EmptyResponse, Says: "there is nothing in the response, or nothing but thinking"},
	{Name: ResponseTruncated, Says: "the response's own JSON is cut off"},
	{Name: ResponseSyntax, Says: "the response's own JSON can't be read"},
	{Name: EventStream, Says: "it is a stream of events, not a response"},
	{Name: ErrorResponse, Says: "there is an error in the response, whatever its status"},
	{Name: NoChoices, Says: "choices is missing or empty"},
	{Name: NoMessage, Says: "the choice has no message"},
	{Name: Refusal, Says: "the model refused"},
	{Name: ContentFilter, Says: "the provider's filter withheld the answer"},
	{Name: AnswerTruncated, Says: "the answer was cut off by a limit before any call was whole"},
	{Name: FinishUnknown, Says: "finish_reason is a word that is not known, and there are no calls"},
	{Name: ToolCallsShape, Says: "tool_calls, or a call in it, is neither an object nor JSON"},
	{Name: MissingName, Says: "a call names no function"},
	{Name: NotACall, Says: "between <tool_call> tags stands something else, or a call in the content can't be read"},
	{Name: UnknownTool, Says: "no tool has this name"},
	{Name: ToolDenied, Says: "the tool is not open to the caller"},
	{Name: ContractBroken, Says: "the arguments break the tool's contract"},
}
