/**
 * `deno task soak:container`: builds the image of the `Containerfile` with buildah, from the archive that a release
 * has, over a base that is copied from this machine (no registry is needed). The server then runs in it twice: with the
 * image's user, environment and entry point, a read-only root, a volume, and a network of its own, so that the image's
 * ports are free; clients ask it over all three protocols.
 *
 * It needs root, buildah and `unshare`, and says so and exits with 0 where they are missing. No daemon runs and no user
 * namespace is needed: the image is entered by `chroot`, in namespaces for mounts and network. Exit code 1: something
 * was wrong.
 */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { isInstalled } from "../../tools/not_run.ts";
import { run } from "../../tools/project.ts";
import { bundle } from "../../tools/release.ts";

/** Builds the image and enters it. Parameters: folder to work in, this program's runtime, the script to run inside. */
const build = `
set -eu
work=$1
export BUILDAH_ISOLATION=chroot
store="--root $work/store --runroot $work/run --storage-driver vfs"
container=
clean_up() { [ -z "$container" ] || { buildah $store umount "$container"; buildah $store rm "$container"; } >"$work/clean_up" 2>&1 || true; }
trap clean_up EXIT
base=$work/base
mkdir -p "$base/bin" "$base/tmp" "$base/proc" "$base/dev"
copy_libraries() {
  { ldd "$1" 2>/dev/null || true; } | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$base$(dirname "$library")"
    [ -e "$base$library" ] || cp -L "$library" "$base$library"
  done
}
for name in sh dd head tee stat mktemp mkfifo mkdir mv rm chmod chown find id cat sha256sum gzip wc; do
  path=$(which "$name")
  cp -L "$path" "$base/bin/$name"
  copy_libraries "$path"
done
copy_libraries "$2"
mkdir "$work/bundle"
tar -xzf "$work/bundle.tar.gz" -C "$work/bundle" --strip-components=1
scratch=$(buildah $store from scratch)
buildah $store copy -q "$scratch" "$base" /
buildah $store commit -q "$scratch" localbase >/dev/null
buildah $store rm "$scratch" >/dev/null
buildah $store bud -q --format docker --build-arg BASE=localhost/localbase -t dbd "$work/bundle" >/dev/null
image() { buildah $store inspect --type image --format "$1" dbd; echo; }
image 'user {{.Docker.Config.User}}, health {{.Docker.Config.Healthcheck.Test}}, volumes {{.Docker.Config.Volumes}}'
image 'ports {{.Docker.Config.ExposedPorts}}, entry {{.Docker.Config.Entrypoint}}'
container=$(buildah $store from dbd)
export root=$(buildah $store mount "$container") volume=$work/volume
export variables="$(image '{{range .Docker.Config.Env}}{{println .}}{{end}}')"
export user="$(image '{{.Docker.Config.User}}')" entry=$(image '{{index .Docker.Config.Entrypoint 0}}')
mkdir "$volume"
chown "$user" "$volume"
chmod 755 "$work"
unshare -m -n sh -u "$3" 2>&1
`;

/** Runs in the namespaces of the container. */
const inside = `
mount --bind "$root" "$root"
mount --bind "$volume" "$root/data"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
ip link set lo up
# In parentheses, so that the process that is waited for is the program itself.
program() { exec env -i $variables "$@"; }
enter="$(which chroot) --userspec=$user $root"
ready() {
  attempt=0
  until (program $enter $entry health >/dev/null); do
    attempt=$((attempt + 1))
    [ $attempt -lt 60 ] || { echo "the server does not answer"; break; }
    sleep 0.5
  done
}
(program $enter $entry) || echo "open: code $?"
(program $enter $entry health) || echo "unhealthy: code $?"

(program DB_TOKEN=secret $enter $entry) & server=$!
ready
(program $enter $entry health)
grep '^Uid' /proc/$server/status | tr '\\t' ' '
ask() { (program DB_TOKEN=secret $enter /opt/db/dbcli --addr 127.0.0.1:6532 "$1"); }
ask "CREATE TABLE ball (id BIGINT PRIMARY KEY, color TEXT NOT NULL); INSERT INTO ball VALUES (1, 'red'), (2, 'green')"
if which psql >/dev/null; then
  PGPASSWORD=secret psql -h 127.0.0.1 -U db -Atc "SELECT 'over PostgreSQL: ' || count(*) FROM ball"
fi
touch "$root/written" 2>/dev/null || echo "root: read-only"
kill -TERM $server
wait $server && echo "stopped: code 0"

(program DB_TOKEN=secret $enter $entry) & server=$!
ready
ask "INSERT INTO ball VALUES (3, 'blue')"
kill -KILL $server
wait $server || echo "killed: code $?"
(program $enter $entry health) || echo "nothing goes on: code $?"
(program DB_TOKEN=secret $enter $entry) & server=$!
ready
ask "SELECT 'after a kill: ' || string_agg(color, ' ' ORDER BY id) AS colors FROM ball"
kill -TERM $server
wait $server
`;

const expected: readonly RegExp[] = [
  /^user 10001:10001, health \[CMD \/opt\/db\/dbd health\], volumes map\[\/data:\{\}\]$/m,
  /^ports map\[5432\/tcp:\{\} 6532\/tcp:\{\} 6533\/tcp:\{\}\], entry \[\/opt\/db\/dbd\]$/m,
  /there is no token: give one with --token-file or DB_TOKEN/,
  /^open: code 2$/m,
  /^unhealthy: code 1$/m,
  /^\{"status":"ok",/m,
  /^Uid: 10001 10001 10001 10001$/m,
  /^INSERT 0 2$/m,
  /^root: read-only$/m,
  /^stopped: code 0$/m,
  /^killed: code 137$/m,
  /^nothing goes on: code 1$/m,
  /after a kill: red green blue/,
];

if (import.meta.main) {
  if (Deno.uid() !== 0 || !await isInstalled("buildah") || !await isInstalled("unshare")) {
    console.log("NOT RUN: the image (it needs root, buildah and unshare)");
    Deno.exit(0);
  }
  const { dbd } = await compiledPrograms();
  const work = await Deno.makeTempDir({ prefix: "container-" });
  try {
    const archive = bundle(dbd.slice(0, dbd.lastIndexOf("/")), ["dbcli", "dbd", "lang"]);
    await Deno.writeFile(`${work}/bundle.tar.gz`, ReadableStream.from(archive));
    await Deno.writeTextFile(`${work}/inside.sh`, inside);
    const parameters = ["-c", build, "sh", work, Deno.execPath(), `${work}/inside.sh`];
    const { code, stdout, stderr } = await run("sh", parameters);
    const missing = [
      ...expected,
      ...await isInstalled("psql") ? [/^over PostgreSQL: 2$/m] : [],
    ].filter((pattern) => !pattern.test(stdout));
    console.log(stdout);
    if (code !== 0 || missing.length > 0) {
      console.error(`exit code ${code}; missing: ${missing.join(" ")}\n${stderr}`);
      Deno.exitCode = 1;
    } else {console.log(
        "the image is built, refuses to be open, serves, is healthy, stops, and survives a kill",
      );}
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}
