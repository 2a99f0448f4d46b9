/**
 * `deno task soak:container`: builds the image of the `Containerfile` with buildah, over a base that is copied from
 * this machine (no registry is needed), and runs the server in it: as the image's user, with a read-only root and a
 * volume.
 *
 * Needs root, buildah and chroot; says so and exits with 0 where they are missing. Exit code 1: something was wrong.
 */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { isInstalled } from "../../tools/not_run.ts";
import { projectRoot, run } from "../../tools/project.ts";

const script = `
set -eu
work=$1 root=$2 programs=$3
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
store="--root $work/store --runroot $work/run"
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
copy_libraries "$4"
mkdir "$work/bundle"
cp "$programs/dbd" "$programs/dbcli" "$root/LICENSE" "$root/Containerfile" "$work/bundle"
container=$(buildah $store from scratch)
buildah $store copy -q "$container" "$base" /
buildah $store commit -q "$container" localbase >/dev/null
buildah $store bud -q --format docker --build-arg BASE=localhost/localbase -t dbd "$work/bundle" >/dev/null
container=$(buildah $store from dbd)
buildah $store inspect --type image --format '{{.Docker.Config.User}} {{.Docker.Config.Healthcheck.Test}}' dbd
echo
mounted=$(buildah $store mount "$container")
mkdir "$work/volume"
chown 10001:10001 "$work/volume"
chmod 755 "$work"
cat >"$work/inside.sh" <<END
mount --bind "$mounted" "$mounted"
mount --bind "$work/volume" "$mounted/data"
mount -o remount,bind,ro "$mounted"
mount -t proc proc "$mounted/proc" || true
mount --rbind /dev "$mounted/dev"
inside() {
  env -i PATH=/bin XDG_CACHE_HOME=/opt/db/cache DENO_DIR=/data/.cache DB_LISTEN_ADDR=0.0.0.0:26532 \\
    DB_HTTP_ADDR=0.0.0.0:26533 DB_PG_ADDR=0.0.0.0:25432 DB_DATA_DIR=/data "\\$@"
}
user="$(which chroot) --userspec=10001:10001 $mounted"
inside \\$user /opt/db/dbd || echo "open: code \\$?"
inside \\$user /opt/db/dbd health || echo "unhealthy: code \\$?"
inside DB_TOKEN=secret \\$user /opt/db/dbd &
server=\\$!
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  sleep 0.5
  inside \\$user /opt/db/dbd health && break
done
touch "$mounted/written" 2>/dev/null || echo "root: read-only"
kill -TERM \\$server
wait \\$server && echo "stopped: code 0"
END
unshare -m sh "$work/inside.sh" 2>&1
buildah $store umount "$container" >/dev/null
buildah $store rm "$container" >/dev/null
`;

const expected: readonly RegExp[] = [
  /^10001:10001 \[CMD \/opt\/db\/dbd health\]$/m,
  /there is no token: give one with --token-file or DB_TOKEN/,
  /^open: code 2$/m,
  /^unhealthy: code 1$/m,
  /^\{"status":"ok",/m,
  /^root: read-only$/m,
  /^stopped: code 0$/m,
];

if (import.meta.main) {
  if (!await isInstalled("buildah") || Deno.uid() !== 0) {
    console.log("NOT RUN: the image (it needs root and buildah, which is not installed)");
    Deno.exit(0);
  }
  const { dbd } = await compiledPrograms();
  const work = await Deno.makeTempDir({ prefix: "container-" });
  try {
    const parameters = [
      "-c",
      script,
      "sh",
      work,
      projectRoot,
      dbd.slice(0, dbd.lastIndexOf("/")),
      Deno.execPath(),
    ];
    const { code, stdout, stderr } = await run("sh", parameters);
    const missing = expected.filter((pattern) => !pattern.test(stdout));
    console.log(stdout);
    if (code !== 0 || missing.length > 0) {
      console.error(`exit code ${code}; missing: ${missing.join(" ")}\n${stderr}`);
      Deno.exitCode = 1;
    } else console.log("the image is built, refuses to be open, serves, is healthy and stops");
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}
