package main

import (
	"errors"
	"strings"
)

// redacted is a URL, or several with commas between, without the name and the
// password that may stand in it. It works on text: what cannot be parsed is
// printed in errors too.
func redacted(urls string) string {
	list := strings.Split(urls, ",")
	for i, u := range list {
		scheme, rest := "", u
		if s, r, ok := strings.Cut(u, "://"); ok {
			scheme, rest = s+"://", r
		}
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			list[i] = scheme + "…@" + rest[at+1:]
		}
	}
	return strings.Join(list, ",")
}

// redactIn is err in whose text no URL of urls shows its name and password.
func redactIn(err error, urls string) error {
	text := err.Error()
	for u := range strings.SplitSeq(urls, ",") {
		text = strings.ReplaceAll(text, strings.TrimSpace(u), redacted(strings.TrimSpace(u)))
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
