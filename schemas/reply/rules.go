package reply

import "callgate.dev/schemas/repair"

// The repairs of a response's shape.
const (
	ArrayUnwrapped  = "array_unwrapped"
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
	ContentXML      = "content_xml"
	ContentMistral  = "content_tool_calls"
	ContentPython   = "content_pythonic"
	ContentTokens   = "content_tokens"
	ContentQwen     = "content_qwen"
	ContentChannel  = "content_channel"
	ParameterTyped  = "parameter_typed"
	RepeatedCall    = "repeated_call"
	ThinkingDropped = "thinking_dropped"
	Delta           = "delta"
	MessageString   = "message_string"
	LegacyText      = "legacy_text"
	ContentType     = "content_type"
	FieldType       = "field_type"
	UsageMissing    = "usage_missing"
	StreamJoined    = "stream_joined"
	StreamEnd       = "stream_end"
	StreamIndex     = "stream_index"
	StreamOrder     = "stream_order"
)

// The reasons why there is no answer, or no call where one was meant.
const (
	NotUTF8           = repair.NotUTF8
	EmptyResponse     = "empty_response"
	EmptyAnswer       = "empty_answer"
	ResponseTruncated = "response_truncated"
	ResponseSyntax    = "response_syntax"
	NotAResponse      = "not_a_response"
	StreamCut         = "stream_cut"
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
)

// Rules lists the repairs of a response's shape.
var Rules = []repair.Rule{
	{Name: ArrayUnwrapped, Says: "the response stands in an array of one"},
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
	{Name: UnclosedTag, Says: "a mark that opens a call is not closed, whole JSON follows it, and the answer was not cut off"},
	{Name: ContentXML, Says: "the call stands in the content as elements: <function=…>, <invoke name=…>, or <arg_key> and <arg_value>"},
	{Name: ContentMistral, Says: "the call stands in the content behind [TOOL_CALLS]"},
	{Name: ContentPython, Says: "the call stands in the content in Python's notation: [read_file(path=\"a\")], also behind <|python_tag|> and in a ```tool_code fence"},
	{Name: ContentTokens, Says: "the call stands in the content between the special tokens of DeepSeek or Kimi"},
	{Name: ContentQwen, Says: "the call stands in the content between ✿FUNCTION✿ and ✿ARGS✿"},
	{Name: ContentChannel, Says: "the call, or the text, stands in the content in a <|channel|> of its own"},
	{Name: ParameterTyped, Says: "a parameter written as bare text is read as the type that the tool's contract gives it"},
	{Name: RepeatedCall, Says: "the same call is there in two places, and is taken once"},
	{Name: ThinkingDropped, Says: "a thinking block beside the call was left out"},
	{Name: Delta, Says: "a delta stands in the place of a message, or the other way round"},
	{Name: MessageString, Says: "the message is a string"},
	{Name: LegacyText, Says: "the choice has a text, as in the older completions API, and no message"},
	{Name: ContentType, Says: "content is a number, a truth value or an object; it is taken as written"},
	{Name: FieldType, Says: "id, object, system_fingerprint or created has a type that clients refuse; its value is not used"},
	{Name: UsageMissing, Says: "the server counted no tokens; they are estimated"},
	{Name: StreamJoined, Says: "the answer came as a stream of events, which were joined"},
	{Name: StreamEnd, Says: "of [DONE] and the finish_reason, with which a stream ends, one is missing"},
	{Name: StreamIndex, Says: "a call in a stream has no index, or that of another call; its ID tells which it is, or that it goes on with the last"},
	{Name: StreamOrder, Says: "the calls of a stream did not come in the order of their indexes"},
}

// Reasons lists what ends in a fault.
var Reasons = []repair.Rule{
	{Name: repair.NotUTF8, Says: "the bytes are not UTF-8"},
	{Name: EmptyResponse, Says: "there is nothing in the response"},
	{Name: EmptyAnswer, Says: "the message has neither calls nor content, or nothing but thinking"},
	{Name: ResponseTruncated, Says: "the response's own JSON is cut off"},
	{Name: ResponseSyntax, Says: "the response's own JSON can't be read"},
	{Name: NotAResponse, Says: "it is JSON, a page or a text, and no chat completion"},
	{Name: StreamCut, Says: "the event stream ended in the middle: neither a finish_reason nor [DONE] came, or an event is half"},
	{Name: ErrorResponse, Says: "there is an error in the response, whatever its status"},
	{Name: NoChoices, Says: "choices is missing or empty"},
	{Name: NoMessage, Says: "the choice has no message"},
	{Name: Refusal, Says: "the model refused"},
	{Name: ContentFilter, Says: "the provider's filter withheld the answer"},
	{Name: AnswerTruncated, Says: "the answer was cut off by a limit before any call was whole"},
	{Name: FinishUnknown, Says: "finish_reason is a word that is not known, and there are no calls"},
	{Name: ToolCallsShape, Says: "tool_calls, or a call in it, is neither an object nor JSON"},
	{Name: MissingName, Says: "a call names no function"},
	{Name: NotACall, Says: "between the marks of a call stands something else, or what stands there can't be read as one"},
}
