package repair

// Rule names a repair, or the reason why a text could not be read.
type Rule struct {
	Name string
	// Says is what the rule does, with an example.
	Says string
}

// The repairs.
const (
	BOM              = "bom"
	UnicodeSpace     = "unicode_space"
	ControlCharacter = "control_character"
	CodeFence        = "code_fence"
	LanguageTag      = "language_tag"
	ProseAround      = "prose_around"
	DoubleEncoded    = "double_encoded"
	EmptyArguments   = "empty_arguments"
	NullArguments    = "null_arguments"
	RepeatedObject   = "repeated_object"
	SingleQuotes     = "single_quotes"
	CurlyQuotes      = "curly_quotes"
	FullWidth        = "full_width"
	BacktickString   = "backtick_string"
	TripleQuotes     = "triple_quotes"
	InvalidEscape    = "invalid_escape"
	PythonLiteral    = "python_literal"
	NumberForm       = "number_form"
	UnquotedKey      = "unquoted_key"
	TrailingComma    = "trailing_comma"
	Comment          = "comment"
	MissingBracket   = "missing_bracket"
	ExtraBracket     = "extra_bracket"
)

// The reasons why a text is not read.
const (
	NotUTF8      = "not_utf8"
	NoJSON       = "no_json"
	Syntax       = "syntax"
	Truncated    = "truncated"
	Unfinished   = "unfinished"
	DuplicateKey = "duplicate_key"
	TwoReadings  = "two_readings"
	TooDeep      = "too_deep"
	NotAnObject  = "not_an_object"
)

// Rules lists the repairs in the order in which a text meets them.
var Rules = []Rule{
	{BOM, "a byte order mark is dropped"},
	{UnicodeSpace, "a space that JSON does not know, such as U+00A0, is taken for one between tokens"},
	{ControlCharacter, "a raw control character is escaped inside a string (a line break in a program) and dropped between tokens"},
	{CodeFence, "a Markdown fence around the object is dropped: ```json {…} ```"},
	{LanguageTag, "a lone word that names the format is dropped: json {…}"},
	{ProseAround, "sentences before and after the only object are dropped: Sure: {…}"},
	{DoubleEncoded, `a JSON string that holds an object is decoded: "{\"a\":1}"`},
	{EmptyArguments, "no text at all is an empty object"},
	{NullArguments, "null is an empty object"},
	{RepeatedObject, "an object written several times, each the same to the letter, is taken once"},
	{SingleQuotes, "{'a': 'b'}"},
	{CurlyQuotes, "{“a”: “b”}"},
	{FullWidth, "full-width punctuation: ｛＂a＂：1｝"},
	{BacktickString, "a JavaScript template without substitutions: {\"a\": `b`}"},
	{TripleQuotes, `a Python string in three quotes: {"a": """b"""}`},
	{InvalidEscape, `\' and \x41 mean the same in Python and in JavaScript; no other unknown escape is read`},
	{PythonLiteral, "True, False and None"},
	{NumberForm, "+1, .5, 5. and 1_000"},
	{UnquotedKey, "{a: 1}"},
	{TrailingComma, "{\"a\": 1,}"},
	{Comment, "// to the end of a line, # to the end of a line, and /* … */"},
	{MissingBracket, "a closing bracket is added where every string was closed and the model said that it had finished"},
	{ExtraBracket, "closing brackets after the end of the object are dropped: {\"a\":1}}"},
}

// Reasons lists why a text is not read.
var Reasons = []Rule{
	{NotUTF8, "the bytes are not UTF-8"},
	{NoJSON, "there is no JSON object in the text"},
	{Syntax, "no rule reads what stands at this place"},
	{Truncated, "the text ends inside a string, or where something had to follow"},
	{Unfinished, "the text would need a repair, and the model's answer was cut off or may have been"},
	{DuplicateKey, "a key is there twice in one object"},
	{TwoReadings, "the text holds two different objects"},
	{TooDeep, "brackets are nested deeper than any argument needs"},
	{NotAnObject, "the value is an array, a string, a number or a truth value"},
}
