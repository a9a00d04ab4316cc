package machine

import (
	"errors"
	"fmt"
)

// Defaults of Config: what one run may use by default, and enough disk for the
// event log of an hour.
const (
	DefaultMinFreeMemory = 512 << 20 // bytes, at most a quarter of all memory
	DefaultMinFreeDisk   = 1 << 30   // bytes, at most a twentieth of the disk
)

// Config says how much has to be free for the machine not to be full.
type Config struct {
	// MinFreeMemory in bytes. Default 512 MiB, or a quarter of the memory that
	// this process may use where that is less.
	MinFreeMemory int64
	// MinFreeDisk in bytes, beneath each of Dirs. Default 1 GiB, or 5 % of the
	// disk where that is less.
	MinFreeDisk int64
	// Dirs are where runs and what they leave go to disk.
	Dirs []string
	// Root is where /proc and /sys/fs/cgroup are looked for. Default "/".
	Root string
}

// Validate joins every fault of c.
func (c Config) Validate() error {
	var errs []error
	if c.MinFreeMemory < 0 {
		errs = append(errs, fmt.Errorf("min_free_memory is %d, expected a number of bytes", c.MinFreeMemory))
	}
	if c.MinFreeDisk < 0 {
		errs = append(errs, fmt.Errorf("min_free_disk is %d, expected a number of bytes", c.MinFreeDisk))
	}
	return errors.Join(errs...)
}

// Space is how much of something is free, and how much has to be.
type Space struct {
	What      string `json:"what"` // "memory", or a directory
	FreeBytes int64  `json:"free_bytes"`
	MinBytes  int64  `json:"min_bytes"`
}

const memoryName = "memory"

// Full says what is too full, and nothing where there is room.
func (s Space) Full() error {
	if s.FreeBytes >= s.MinBytes {
		return nil
	}
	what := s.What
	if what != memoryName {
		what = "the disk beneath " + s.What
	}
	return fmt.Errorf("%s: %s free, less than the %s to be kept free", what, size(s.FreeBytes), size(s.MinBytes))
}

// size is exact where it is small, so that two that differ look different.
func size(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Machine is the one that this process runs on.
type Machine struct{ config Config }

// New returns the machine, measured against c.
func New(c Config) (*Machine, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("thresholds of the machine: %w", err)
	}
	if c.Root == "" {
		c.Root = "/"
	}
	return &Machine{c}, nil
}

// Look measures memory first and then each directory.
func (m *Machine) Look() ([]Space, error) {
	memory, err := m.memory()
	if err != nil {
		return nil, err
	}
	disks, err := m.disks()
	return append([]Space{memory}, disks...), err
}

func (m *Machine) memory() (Space, error) {
	free, total, err := memory(m.config.Root)
	if err != nil {
		return Space{}, fmt.Errorf("measure memory: %w", err)
	}
	return Space{memoryName, free, threshold(m.config.MinFreeMemory, DefaultMinFreeMemory, total/4)}, nil
}

func (m *Machine) disks() (spaces []Space, err error) {
	for _, dir := range m.config.Dirs {
		free, total, err := disk(dir)
		if err != nil {
			return spaces, fmt.Errorf("measure the disk beneath %s: %w", dir, err)
		}
		spaces = append(spaces, Space{dir, free, threshold(m.config.MinFreeDisk, DefaultMinFreeDisk, total/20)})
	}
	return spaces, nil
}

// Disk is Room without the memory, whose measure takes a dozen files.
func (m *Machine) Disk() error {
	spaces, _ := m.disks()
	return full(spaces)
}

// Room is nil where there is room for another run, and else says why there is
// none. A machine that cannot be measured is not held to be full: a run finds
// out by itself.
func (m *Machine) Room() error {
	spaces, _ := m.Look()
	return full(spaces)
}

func full(spaces []Space) error {
	var errs []error
	for _, s := range spaces {
		errs = append(errs, s.Full())
	}
	return errors.Join(errs...)
}

func threshold(asked, usual, most int64) int64 {
	if asked > 0 {
		return asked
	}
	return min(usual, most)
}
