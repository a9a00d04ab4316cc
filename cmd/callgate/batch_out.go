package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"callgate.dev/schemas"
	"github.com/nats-io/nuid"
)

// open prepares the output and returns what of an earlier run stands: the
// records of jobs that completed.
func (b *batchRun) open(flags batchFlags) (map[string]batchRecord, error) {
	nameFile := flags.out + ".run"
	if !flags.resume {
		_, errName := os.Stat(nameFile)
		info, errOut := os.Stat(flags.out)
		if errName == nil || errOut == nil && info.Size() > 0 {
			return nil, usageError("%s is an earlier batch's: go on with it by --resume, or name another --out", flags.out)
		}
	}
	f, err := os.OpenFile(flags.out, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	b.out = f
	done, err := b.begin(nameFile, flags.resume)
	if err != nil {
		b.out.Close()
	}
	return done, err
}

func (b *batchRun) begin(nameFile string, resume bool) (map[string]batchRecord, error) {
	raw, err := os.ReadFile(nameFile)
	switch b.name = strings.TrimSpace(string(raw)); {
	case errors.Is(err, os.ErrNotExist):
		b.name = nuid.Next()[12:]
		if err := os.WriteFile(nameFile, []byte(b.name+"\n"), 0o644); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	case err != nil:
		return nil, err
	case schemas.CheckName("batch", b.name) != nil:
		return nil, usageError("%s is not a batch's name; remove it", nameFile)
	}
	if !resume {
		return nil, nil
	}
	done, kept, all, err := readOut(b.out)
	if err != nil || len(kept) == all {
		return done, err
	}
	return done, b.rewrite(kept)
}

// readOut reads an output file and leaves it at its end. Kept are the lines of
// jobs that completed, to the letter. A last line cut short by a crash is
// dropped from the file.
func readOut(f *os.File) (done map[string]batchRecord, kept [][]byte, all int, err error) {
	done = map[string]batchRecord{}
	r := bufio.NewReaderSize(f, 1<<20)
	for good := int64(0); ; all++ {
		raw, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if err := f.Truncate(good); err != nil {
				return nil, nil, 0, fmt.Errorf("drop the cut last line: %w", err)
			}
			_, err := f.Seek(good, io.SeekStart)
			return done, kept, all, err
		}
		if err != nil {
			return nil, nil, 0, err
		}
		var rec batchRecord
		if err := json.Unmarshal(raw, &rec); err != nil || rec.CustomID == "" {
			return nil, nil, 0, usageError("%s: line %d is not of a batch's output; name another --out", f.Name(), all+1)
		}
		if rec.completed() {
			done[rec.CustomID] = rec
			kept = append(kept, raw)
		}
		good += int64(len(raw))
	}
}

// rewrite replaces the output by the records that stand: at every moment one
// of the two files is there, whole.
func (b *batchRun) rewrite(lines [][]byte) error {
	name := b.out.Name()
	next, err := os.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	_, err = next.Write(bytes.Join(lines, nil))
	if err = errors.Join(err, next.Sync()); err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", name, err), next.Close())
	}
	b.out.Close()
	b.out = next
	return nil
}
