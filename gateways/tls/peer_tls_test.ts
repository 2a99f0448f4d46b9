/** Members that speak TLS: who is let in, and what both ends say of those who are not. */
import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { denoNetwork } from "../../engine/host/deno_network.ts";
import { SECURE_FRAME } from "../../engine/replication/peers/peer_hello.ts";
import { denoHost } from "../../engine/host/deno_host.ts";
import { PeerConnections } from "../../engine/replication/peers/peer_connections.ts";
import { until } from "../../tests/support/until.ts";
import { MemberDoor } from "../binary/member_door.ts";
import { securedNetwork } from "../binary/member_network.ts";
import { CertificateError } from "./certificate.ts";
import { ensureDevelopmentCertificate } from "./development_certificate.ts";
import { distrust, PeerTls } from "./peer_tls.ts";

const DAY_MILLISECONDS = 86_400_000;
const TIMES = { firstRetry: 5, lastRetry: 40, handshake: 2000, tick: 50, silentTicks: 20, grace: 100 };

/** Certificates below a folder: two authorities, one of which has a certificate that has ended. */
class Certificates implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "peer-tls-" });
  readonly #opened: PeerTls[] = [];

  constructor() {
    const ago = (days: number) => new Date(Date.now() - days * DAY_MILLISECONDS);
    ensureDevelopmentCertificate(`${this.folder}/ours`, new Date());
    ensureDevelopmentCertificate(`${this.folder}/others`, new Date());
    ensureDevelopmentCertificate(`${this.folder}/old`, ago(400));
    const authorities = ["ours", "others", "old"].map((name) => this.text(`${name}/ca.pem`));
    Deno.writeTextFileSync(`${this.folder}/all.pem`, authorities.join(""));
  }

  text(path: string): string {
    return Deno.readTextFileSync(`${this.folder}/${path}`);
  }

  open(own: string, trusted: string, log: (line: string) => void = () => {}): PeerTls {
    const opened = PeerTls.open({
      authorityPath: `${this.folder}/${trusted}`,
      certificatePath: `${this.folder}/${own}/server.pem`,
      keyPath: `${this.folder}/${own}/server.key`,
    }, log);
    this.#opened.push(opened);
    return opened;
  }

  [Symbol.dispose](): void {
    for (const opened of this.#opened) opened.close();
    Deno.removeSync(this.folder, { recursive: true });
  }
}

interface End {
  readonly security: PeerTls | null;
  /** How it names the other; 127.0.0.1 unless given. */
  readonly names?: string;
}

interface Told {
  readonly isConnected: boolean;
  readonly lines: readonly string[];
  readonly misfits: readonly string[];
}

/** Member 0 dials member 1; what both have said when they are connected or one of them has had to stop. */
async function meet(dialer: End, acceptor: End): Promise<{ readonly dialer: Told; readonly acceptor: Told }> {
  const logs = [[], []] as [string[], string[]], misfits = [[], []] as [string[], string[]];
  let acceptorPeers: PeerConnections | null = null;
  const door = await MemberDoor.open({ hostname: "0.0.0.0", port: 0 }, {
    security: acceptor.security,
    offersTls: false,
    onPeer: (connection, received) => acceptorPeers?.accept(connection, received),
    onEarlyClient: (socket) => socket.destroy(),
    log: (line) => logs[1].push(line),
  });
  const start = (index: 0 | 1, { security, names = "127.0.0.1" }: End): PeerConnections => {
    const other = { hostname: names, port: index === 0 ? door.address.port : 1 };
    const own = { hostname: "nobody", port: 1 };
    const peers = new PeerConnections({
      host: denoHost(),
      network: security === null ? denoNetwork() : securedNetwork(security),
      index,
      addresses: index === 0 ? [own, other, { ...own, port: 2 }] : [other, own, { ...own, port: 2 }],
      configurationHash: 1n,
      token: "secret",
      knowledge: { clusterId: null, hasLog: false },
      log: (line) => logs[index].push(line),
      onMisfit: ({ message }) => misfits[index].push(message),
      times: TIMES,
    });
    return peers;
  };
  const peers = [start(0, dialer), acceptorPeers = start(1, acceptor)] as const;
  for (const each of peers) each.start();
  const isConnected = () => peers.every((each, index) => each.hello(1 - index) !== null);
  try {
    await until(() => isConnected() || misfits[0].length > 0, "they have met");
    // A line of the other end comes a moment later.
    if (!isConnected()) {
      await until(() => logs[1].length + misfits[1].length > 0, "the other end says it");
    }
    const told = (index: 0 | 1): Told => ({
      isConnected: isConnected(),
      lines: logs[index].filter((line) => !/nobody/.test(line)),
      misfits: misfits[index],
    });
    return { dialer: told(0), acceptor: told(1) };
  } finally {
    for (const each of peers) each.close();
    await door.close();
  }
}

Deno.test("members whose certificates are of the authority that both trust are connected", async () => {
  using certificates = new Certificates();
  for (const trusted of ["ours/ca.pem", "all.pem"]) {
    const { dialer, acceptor } = await meet(
      { security: certificates.open("ours", trusted) },
      { security: certificates.open("ours", trusted) },
    );
    deepStrictEqual([dialer, acceptor], [1, 2].map(() => ({ isConnected: true, lines: [], misfits: [] })));
  }
  const mixed = await meet(
    { security: certificates.open("others", "all.pem") },
    { security: certificates.open("ours", "all.pem") },
  );
  ok(mixed.dialer.isConnected);
});

Deno.test("what does not prove itself is named in one line at both ends", async () => {
  using certificates = new Certificates();
  const ours = () => certificates.open("ours", "ours/ca.pem");
  const cases: readonly (readonly [string, End, End, RegExp, RegExp])[] = [
    [
      "the dialer trusts another authority",
      { security: certificates.open("ours", "others/ca.pem") },
      { security: ours() },
      /^the certificate of the member at 127\.0\.0\.1:\d+ is not signed by an authority of --peer-ca here, or out of date$/,
      /^a member at \S+ does not accept the certificate of this one: /,
    ],
    [
      "the dialer's certificate is of another authority",
      { security: certificates.open("others", "all.pem") },
      { security: ours() },
      /^the member at \S+ does not accept the certificate of this one: see its log$/,
      /^a connection from \S+ shows a certificate that is not signed by an authority of --peer-ca here$/,
    ],
    [
      "the dialer's certificate has ended",
      { security: certificates.open("old", "all.pem") },
      { security: certificates.open("ours", "all.pem") },
      /^the member at \S+ does not accept the certificate of this one: see its log$/,
      /^a connection from \S+ shows a certificate that has expired on \d{4}-\d\d-\d\d$/,
    ],
    [
      "the other's certificate has ended",
      { security: certificates.open("ours", "all.pem") },
      { security: certificates.open("old", "all.pem") },
      /^the certificate of the member at \S+ is not signed by an authority of --peer-ca here, or out of date$/,
      /^a member at \S+ does not accept the certificate of this one: /,
    ],
    [
      "the other is dialed by a name that its certificate does not have",
      { security: ours(), names: "127.0.0.2" },
      { security: ours() },
      /^the member at \S+ has a certificate for another name: --peers here must name it as its certificate does$/,
      /(said nothing|has ended the TLS handshake): it may not accept the certificate of this one$/,
    ],
    [
      "the dialer's certificate does not have the name that the other knows",
      { security: ours() },
      { security: ours(), names: "db0.example" },
      /^the member at \S+ does not accept the certificate of this one: see its log$/,
      /^member 0 at \S+ has a certificate for .*localhost.*, not for db0\.example: --peers here must/,
    ],
    [
      "the dialer speaks clear text",
      { security: null },
      { security: ours() },
      /^the member at \S+ speaks TLS: give all members --peer-ca, --peer-cert and --peer-key$/,
      /^a member at \S+ speaks clear text, this one TLS: give all members --peer-ca/,
    ],
    [
      "the other speaks clear text",
      { security: ours() },
      { security: null },
      /^the member at \S+ does not speak TLS: give all members --peer-ca, --peer-cert and --peer-key$/,
      /^a member at \S+ speaks TLS, this one does not: give all members --peer-ca/,
    ],
  ];
  for (const [name, first, second, atDialer, atAcceptor] of cases) {
    const { dialer, acceptor } = await meet(first, second);
    strictEqual(dialer.isConnected, false, name);
    const what = `${name}: ${JSON.stringify([dialer, acceptor])}`;
    ok(dialer.misfits.some((line) => atDialer.test(line)), what);
    const said = [...acceptor.lines, ...acceptor.misfits];
    ok(said.some((line) => atAcceptor.test(line)), what);
    for (const line of [...dialer.misfits, ...said]) ok(!line.includes("\n"), line);
  }
});

Deno.test("strangers are let in nowhere: no certificate, no TLS behind the first frame, another's certificate", async () => {
  using certificates = new Certificates();
  const lines: string[] = [];
  const door = await MemberDoor.open({ hostname: "127.0.0.1", port: 0 }, {
    security: certificates.open("ours", "ours/ca.pem"),
    offersTls: false,
    onPeer: () => lines.push("a peer"),
    onEarlyClient: (socket) => {
      lines.push("a client");
      socket.destroy();
    },
    log: (line) => lines.push(line),
  });
  door.onRelayed = () => lines.push("a relayed client");
  const stranger = (options: { readonly cert?: string; readonly key?: string }, sends = "hello") =>
    new Promise<void>((resolve) => {
      const plain = connect({ host: "127.0.0.1", port: door.address.port });
      plain.write(SECURE_FRAME);
      const socket = connectTls({ socket: plain, ca: certificates.text("ours/ca.pem"), ...options });
      socket.on("secureConnect", () => socket.write(sends)).resume();
      socket.on("error", () => {});
      socket.on("close", () => resolve());
    });
  await stranger({});
  await stranger({
    cert: certificates.text("others/server.pem"),
    key: certificates.text("others/server.key"),
  });
  const plain = await Deno.connect({ hostname: "127.0.0.1", port: door.address.port });
  await plain.write(new Uint8Array([...SECURE_FRAME, ...new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n")]));
  while (await plain.read(new Uint8Array(64)) !== null);
  plain.close();
  await until(() => lines.length === 3, "three lines");
  match(
    lines[0] ?? "",
    /^a connection from 127\.0\.0\.1 shows no certificate: members need --peer-cert and --peer-key$/,
  );
  match(lines[1] ?? "", /shows a certificate that is not signed by an authority of --peer-ca here$/);
  match(
    lines[2] ?? "",
    /^the TLS handshake of members with 127\.0\.0\.1 failed: /,
  );
  // A member, and not a client, behind TLS as well.
  await stranger(
    { cert: certificates.text("ours/server.pem"), key: certificates.text("ours/server.key") },
    "junk of a stranger",
  );
  deepStrictEqual(lines.length, 3, `${lines}`);
  await door.close();
});

Deno.test("distrust() follows the chain to an authority that is trusted, through authorities only", () => {
  using certificates = new Certificates();
  const of = (path: string) => new X509Certificate(certificates.text(path));
  const leaf = of("ours/server.pem"), root = of("ours/ca.pem"), other = of("others/ca.pem");
  const now = new Date();
  strictEqual(distrust([leaf], [root], now), null);
  strictEqual(distrust([leaf], [other, root], now), null);
  // Authorities that come with the certificate are not believed, certificates that are none sign nothing.
  const unsigned = "that is not signed by an authority of --peer-ca here";
  strictEqual(distrust([leaf, root], [other], now), unsigned);
  strictEqual(distrust([leaf], [leaf], now), unsigned);
  strictEqual(distrust([], [root], now), unsigned);
  match(
    distrust([leaf], [root], new Date(now.getTime() - DAY_MILLISECONDS * 400)) ?? "",
    /is not valid before/,
  );
  match(distrust([leaf], [root], new Date(now.getTime() + DAY_MILLISECONDS * 400)) ?? "", /has expired on/);
});

Deno.test("PeerTls reads its files again, and says what cannot be used", async () => {
  using certificates = new Certificates();
  const { folder } = certificates;
  throws(() => certificates.open("ours", "ours/server.pem"), /it must hold certificates of authorities/);
  throws(() => certificates.open("ours", "none.pem"), CertificateError);
  Deno.mkdirSync(`${folder}/own`);
  const use = (name: string): void => {
    for (const file of ["server.pem", "server.key"]) {
      Deno.copyFileSync(`${folder}/${name}/${file}`, `${folder}/own/${file}`);
    }
  };
  use("others");
  const lines: string[] = [];
  const own = certificates.open("own", "all.pem", (line) => lines.push(line));
  const ours = certificates.open("ours", "ours/ca.pem");
  strictEqual((await meet({ security: own }, { security: ours })).dialer.isConnected, false);
  use("ours");
  own.reload();
  strictEqual((await meet({ security: own }, { security: ours })).dialer.isConnected, true);
  // Authorities that were taken away count until others can be read.
  Deno.renameSync(`${folder}/all.pem`, `${folder}/away.pem`);
  strictEqual((await meet({ security: own }, { security: ours })).dialer.isConnected, true);
  match(lines.join("\n"), /Cannot read --peer-ca .*; the authorities that were read before stay in use/);
});
