package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"callgate.dev/schemas"
	"github.com/nats-io/nuid"
	"golang.org/x/sys/unix"
)

// open prepares the output and returns what of an earlier run stands: the
// records of jobs that completed. Beside the output is the file of the batch's
// name, which is held until close: two batches must not write one output.
func (b *batchRun) open(flags batchFlags) (map[string]batchRecord, error) {
	nameFile := flags.out + ".run"
	_, noName := os.Stat(nameFile)
	info, noOut := os.Stat(flags.out)
	begun := noOut == nil && info.Size() > 0
	switch {
	case !flags.resume && (noName == nil || begun):
		return nil, usageError("%s: an earlier batch's; go on with it by --resume, or name another --out", flags.out)
	case noName != nil && begun:
		return nil, usageError("%s: not of a batch's output, or without %s, by which no job of it runs twice; name another --out", flags.out, nameFile)
	}
	var err error
	if b.out, err = os.OpenFile(flags.out, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
		b.nameFile, err = os.OpenFile(nameFile, os.O_RDWR|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, &exitError{exitUsage, errors.Join(err, b.close())}
	}
	done, err := b.begin()
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return done, nil
}

func (b *batchRun) close() error {
	var errs []error
	for _, f := range []*os.File{b.out, b.nameFile} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

func (b *batchRun) begin() (map[string]batchRecord, error) {
	if err := unix.Flock(int(b.nameFile.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, usageError("%s: another batch writes it", b.out.Name())
	}
	raw, err := io.ReadAll(io.LimitReader(b.nameFile, 256))
	if err != nil {
		return nil, err
	}
	done, kept, all, err := readOut(b.out)
	if err != nil {
		return nil, err
	}
	switch b.name = strings.TrimSpace(string(raw)); {
	case b.name == "" && all == 0: // no job was ever submitted under the name that was to be here
		b.name = nuid.Next()[12:]
		if _, err := b.nameFile.WriteAt([]byte(b.name+"\n"), 0); err != nil {
			return nil, err
		}
		if err := errors.Join(b.nameFile.Sync(), syncDir(b.nameFile.Name())); err != nil {
			return nil, err
		}
	case schemas.CheckName("batch", b.name) != nil:
		return nil, usageError("%s: not a batch's name; name another --out", b.nameFile.Name())
	}
	if len(kept) == all {
		return done, nil
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
			if len(raw) > 0 {
				if err := f.Truncate(good); err != nil {
					return nil, nil, 0, fmt.Errorf("drop the cut last line: %w", err)
				}
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

// rewrite replaces the output by the lines that stand: at every moment, whatever
// ends this process or the machine, one of the two files is there, whole.
func (b *batchRun) rewrite(lines [][]byte) error {
	name := b.out.Name()
	next, err := os.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = next.Write(bytes.Join(lines, nil))
	if err = errors.Join(err, next.Sync()); err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", name, err), next.Close())
	}
	_ = b.out.Close() // what it had is replaced
	b.out = next
	return syncDir(name)
}

// syncDir makes what was done to a file's name last, which is its directory's.
func syncDir(name string) error {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
