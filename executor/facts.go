package executor

import (
	"container/list"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"callgate.dev/schemas"
)

// factsKey is what facts depend on: the very bytes, and the rules that the
// contract sets. Interpreter and analyser are the executor's own.
type factsKey struct {
	lang     schemas.Language
	source   string // digest
	contract string // digest
}

func keyOf(lang schemas.Language, source []byte, contract *schemas.Contract) (factsKey, error) {
	rules, err := json.Marshal(contract)
	if err != nil {
		return factsKey{}, fmt.Errorf("encode contract: %w", err)
	}
	return factsKey{lang, schemas.Digest(source), schemas.Digest(rules)}, nil
}

// factsCache remembers the facts of the programs seen last. A redelivery, a
// replay and a batch of like answers then cost no interpreter start. Facts are
// shared: nobody writes to them.
type factsCache struct {
	size  int
	mu    sync.Mutex
	order *list.List // of factsEntry, the last used first
	byKey map[factsKey]*list.Element
}

type factsEntry struct {
	key   factsKey
	facts schemas.Facts
}

func newFactsCache(size int) *factsCache {
	return &factsCache{size: size, order: list.New(), byKey: map[factsKey]*list.Element{}}
}

func (c *factsCache) get(key factsKey) (schemas.Facts, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return schemas.Facts{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(factsEntry).facts, true
}

func (c *factsCache) put(key factsKey, facts schemas.Facts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || c.size <= 0 {
		return
	}
	c.byKey[key] = c.order.PushFront(factsEntry{key, facts})
	if c.order.Len() > c.size {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byKey, last.Value.(factsEntry).key)
	}
}

// Inspect returns the facts of a program, from the interpreter's own parser
// and the rules of contract, which may be nil. The parser runs in a sandbox of
// its own that never runs the program, and sees no workspace but its own: a
// json.py that a tool call left behind cannot stand in for the analyser's
// imports. An error means that there are no facts.
func (e *Executor) Inspect(ctx context.Context, lang schemas.Language, source []byte, contract *schemas.Contract) (schemas.Facts, error) {
	key, err := keyOf(lang, source, contract)
	if err != nil {
		return schemas.Facts{}, err
	}
	if facts, ok := e.cache.get(key); ok {
		return facts, nil
	}
	facts, keep, err := e.analyse(ctx, lang, source, contract)
	if err != nil {
		return schemas.Facts{}, err
	}
	if keep {
		e.cache.put(key, facts)
	}
	return facts, nil
}
