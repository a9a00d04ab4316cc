package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"callgate.dev/schemas"
)

// bubblewrap unshares what the sandbox unshares, over a read-only root. It
// sets no filter and no limits.
func bubblewrap(ctx context.Context, _ Config, report *Report, lang schemas.Language, interpreter string) *startCase {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		report.leave("bubblewrap, "+string(lang), "bwrap is not installed")
		return nil
	}
	args := []string{"--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
	for _, dir := range []string{"/lib", "/lib64", "/bin"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else if _, err := os.Stat(dir); err == nil {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	if own := filepath.Dir(filepath.Dir(interpreter)); own != "/usr" {
		args = append(args, "--ro-bind", own, own)
	}
	run := command(path, slices.Concat(args, []string{interpreter}, nothing[lang])...)
	if err := run(ctx); err != nil {
		report.leave("bubblewrap, "+string(lang), "it does not run here: "+err.Error())
		return nil
	}
	return &startCase{name: "bubblewrap", means: "all namespaces, a read-only root; no filter, no limits", run: run}
}

var commands = map[schemas.Language]string{schemas.Python: "python3", schemas.JavaScript: "node"}

// docker runs a container of an image that is already here.
func docker(ctx context.Context, c Config, report *Report, lang schemas.Language, _ string) *startCase {
	name := "docker, " + string(lang)
	path, err := exec.LookPath("docker")
	if err != nil {
		report.leave(name, "docker is not installed")
		return nil
	}
	image := c.Images[lang]
	if image == "" {
		report.leave(name, "no image named")
		return nil
	}
	probe, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	args := slices.Concat([]string{"run", "--rm", "--pull", "never", "--network", "none", image, commands[lang]}, nothing[lang])
	if err := command(path, args...)(probe); err != nil {
		report.leave(name, "it does not run here: "+err.Error())
		return nil
	}
	return &startCase{name: "docker", means: "docker run of " + image + ", without network", run: command(path, args...)}
}
