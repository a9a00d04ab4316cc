package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"callgate.dev/schemas"
)

// beneath is how every file here is opened: the kernel refuses a path that
// leaves the directory, by "..", by an absolute name, through a symbolic link,
// through /proc's magic links or onto another mount. O_NONBLOCK keeps a FIFO
// that was swapped in from holding the caller.
func beneath(dir *os.File, p string, flags int, mode uint64) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK),
		Mode:    mode,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	for {
		fd, err := unix.Openat2(int(dir.Fd()), p, &how)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue // EAGAIN: a rename raced with a ".." check; see openat2(2)
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: p, Err: err}
		}
		return os.NewFile(uintptr(fd), p), nil
	}
}

// Fill writes the tree into a directory, owned by uid and gid, and replaces what
// has the same names. Nothing is written through a link. An *schemas.Error of
// class disk_limit says that the tree does not fit.
func (t Tree) Fill(dir *os.File, uid, gid int) error {
	made := map[string]bool{".": true}
	for f := range t.All() {
		if err := t.fill(dir, f, made, uid, gid); err != nil {
			if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
				return schemas.Errorf(schemas.ClassDiskLimit, "workspace: %d files of %d bytes do not fit, at %q", t.Len(), t.Bytes(), clip(f.Path))
			}
			return fmt.Errorf("fill workspace: %w", err)
		}
	}
	return nil
}

func (t Tree) fill(dir *os.File, f File, made map[string]bool, uid, gid int) error {
	parent := path.Dir(f.Path) // of "a/b/" it is "a/b"
	if err := makeDirs(dir, parent, made, uid, gid); err != nil || f.Dir() {
		return err
	}
	up, err := beneath(dir, parent, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = up.Close() }()
	name := path.Base(f.Path)
	// A link or FIFO of that name is taken away, never opened.
	if err := unix.Unlinkat(int(up.Fd()), name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "replace", Path: f.Path, Err: err}
	}
	file, err := beneath(up, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Data)
	if err == nil {
		err = unix.Fchown(int(file.Fd()), uid, gid)
	}
	if err == nil {
		err = unix.Fchmod(int(file.Fd()), f.Mode)
	}
	return errors.Join(err, file.Close())
}

func makeDirs(dir *os.File, p string, made map[string]bool, uid, gid int) error {
	if made[p] {
		return nil
	}
	if err := makeDirs(dir, path.Dir(p), made, uid, gid); err != nil {
		return err
	}
	up, err := beneath(dir, path.Dir(p), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = up.Close() }()
	name := path.Base(p)
	err = unix.Mkdirat(int(up.Fd()), name, 0o755)
	if errors.Is(err, unix.EEXIST) {
		made[p] = true // if it is no directory, the next open beneath it says so
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "mkdir", Path: p, Err: err}
	}
	if err := unix.Fchownat(int(up.Fd()), name, uid, gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "chown", Path: p, Err: err}
	}
	made[p] = true
	return nil
}

// Collect reads a directory into a tree. Links are not followed and FIFOs not
// waited for. An *schemas.Error of class disk_limit says that a bound is passed:
// then there is no tree.
func Collect(dir *os.File, limits Limits) (Tree, []Skipped, error) {
	c := &collector{root: dir, build: NewBuilder(Tree{}, limits)}
	if err := c.walk("."); err != nil {
		return Tree{}, nil, err
	}
	return c.build.Tree(), c.skipped, nil
}

type collector struct {
	root    *os.File
	build   *Builder
	skipped []Skipped
}

func (c *collector) skip(p, reason string) {
	if len(c.skipped) < maxSkipped {
		c.skipped = append(c.skipped, Skip(p, reason))
	}
}

func (c *collector) walk(p string) error {
	dir, err := beneath(c.root, p, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EXDEV) {
		c.skip(p, "cannot be entered")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1) // bounded by the file system's inodes
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	slices.Sort(names)
	kept := 0
	for _, name := range names {
		before := c.build.tree.Len()
		if err := c.entry(dir, path.Join(p, name), name); err != nil {
			return err
		}
		kept += c.build.tree.Len() - before
	}
	if kept == 0 && p != "." {
		return c.build.Mkdir(p)
	}
	return nil
}

func (c *collector) entry(dir *os.File, p, name string) error {
	if why := badName(name); why != "" {
		c.skip(p, why)
		return nil
	}
	if why := badPath(p); why != "" {
		c.skip(p, why)
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("read files: stat %s: %w", p, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return c.walk(p)
	case unix.S_IFREG:
		return c.file(p)
	}
	c.skip(p, kind(st.Mode))
	return nil
}

func (c *collector) file(p string) error {
	f, err := beneath(c.root, p, unix.O_RDONLY, 0)
	if errors.Is(err, unix.EACCES) {
		c.skip(p, "cannot be read")
		return nil
	}
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	defer func() { _ = f.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("read files: stat %s: %w", p, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		c.skip(p, kind(st.Mode))
		return nil
	}
	room := c.build.Room()
	if st.Size > room {
		return schemas.Errorf(schemas.ClassDiskLimit, "workspace: more than %d bytes, at %q", c.build.limits.Bytes, clip(p))
	}
	data := make([]byte, 0, st.Size+1) // one more, so that the read sees the end
	for len(data) < cap(data) {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read files: %w", err)
		}
	}
	if int64(len(data)) > st.Size {
		return fmt.Errorf("read files: %s: grew while it was read", p)
	}
	return c.build.Put(p, st.Mode&0o777|0o600, data)
}

func kind(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "not a regular file"
}
