/**
 * Shakes hands with another member, as the one that dialed or the one that was dialed.
 *
 * Both say hello, then both prove that they know the token, the dialer first; only then does either look at what the
 * other says of itself. What does not fit raises a {@link PeerMisfit} at both ends, with a line of its own for each.
 */
import type { NetworkConnection } from "../../host/network.ts";
import { corruptedReplication } from "./header_codec.ts";
import {
  decodePeerHello,
  decodeProof,
  encodePeerHello,
  encodeProof,
  encodeRefusal,
  isRefusal,
  MAX_HELLO_BYTES,
  misfitBeforeProof,
  misfitOf,
  type PeerHello,
  type PeerSide,
  proofOf,
  type Refusal,
  sameProof,
  spokenVersion,
} from "./peer_hello.ts";
import { framed, PeerInput } from "./peer_input.ts";

/** Two members that do not fit together; the message is one line for people. */
export class PeerMisfit extends Error {
  /** The member by whose hello this one is too old for the cluster; null: that is not what is wrong. */
  readonly tooOldFor: number | null;

  constructor(message: string, tooOldFor: number | null = null) {
    super(message);
    this.tooOldFor = tooOldFor;
  }
}

/** How to shake hands. */
export interface HandshakeOptions {
  readonly connection: NetworkConnection;
  readonly side: PeerSide;
  readonly token: string | null;
  /** What was read before. */
  readonly received: Uint8Array;
  /** The own hello to a member of that index. */
  readonly helloTo: (index: number) => PeerHello;
  /** The index of the member that was dialed; null when it is the other that dialed. */
  readonly dialed: number | null;
  /** Where the other is, for people. */
  readonly place: string;
  /** The name that a member is dialed by, which its certificate must be for. */
  readonly hostnameOf: (index: number) => string;
  /** Whether another process with the sender's index is connected and lives. */
  readonly isTaken: (other: PeerHello) => Promise<boolean>;
  /** What is wrong where this member would dial the one that has dialed it; null: nothing, or that is not known. */
  readonly misfitAtHome: (other: PeerHello) => Promise<string | null>;
}

/** What a handshake has brought. */
export interface Handshake {
  readonly own: PeerHello;
  readonly other: PeerHello;
  readonly input: PeerInput;
}

/**
 * Shakes hands; null: the other only wanted to know who is here. Raises {@link PeerMisfit}, XX001 for what is no
 * member, or another error for a connection that ends; the caller closes it then.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Handshake | null> {
  const input = new PeerInput(options.connection, options.received, MAX_HELLO_BYTES);
  return options.side === "dialer" ? await dial(options, input) : await accept(options, input);
}

async function dial(options: HandshakeOptions, input: PeerInput): Promise<Handshake> {
  const { connection, dialed, place, token } = options;
  const own = options.helloTo(dialed ?? 0);
  const ownBytes = encodePeerHello(own);
  await connection.write(framed(ownBytes));
  const otherBytes = await read(input);
  if (isRefusal(otherBytes)) {
    const refusal = decodeProof(otherBytes);
    if (typeof refusal === "string") throw new PeerMisfit(earlyRefusal(refusal, place));
  }
  const other = decodePeerHello(otherBytes);
  expectFit(own, other, place);
  const hellos = { dialer: ownBytes, acceptor: otherBytes };
  await connection.write(framed(encodeProof(proofOf("dialer", token, hellos))));
  const answer = decodeProof(await read(input));
  if (typeof answer === "string") throw new PeerMisfit(refusedLine(answer, { own, other, place }));
  if (!sameProof(answer, proofOf("acceptor", token, hellos))) throw new PeerMisfit(otherToken(other, place));
  const misfit = misfitOf(own, other, { place, expected: dialed ?? 0 });
  if (misfit !== null) throw new PeerMisfit(misfit);
  return { own, other, input };
}

/** Asks which member is at the other end. Raises XX001 for what is none, or does not say it. */
export async function askIndex(connection: NetworkConnection, own: PeerHello): Promise<number> {
  const input = new PeerInput(connection, new Uint8Array(0), MAX_HELLO_BYTES);
  await connection.write(framed(encodePeerHello({ ...own, isQuestion: true })));
  return decodePeerHello(await read(input)).from;
}

async function accept(options: HandshakeOptions, input: PeerInput): Promise<Handshake | null> {
  const { connection, place, token } = options;
  const otherBytes = await read(input);
  const other = decodePeerHello(otherBytes);
  const { certificate } = connection;
  const hostname = options.hostnameOf(other.from);
  if (certificate?.isFor(hostname) === false) {
    await connection.write(framed(encodeRefusal("certificate")));
    throw new PeerMisfit(
      `member ${other.from} at ${place} has a certificate for ${certificate.names}, not for ${hostname}: ` +
        "--peers here must name it as its certificate does",
    );
  }
  const own = options.helloTo(other.from);
  const ownBytes = encodePeerHello(own);
  await connection.write(framed(ownBytes));
  if (other.isQuestion === true) return null;
  expectFit(own, other, place);
  const hellos = { dialer: otherBytes, acceptor: ownBytes };
  const proof = decodeProof(await read(input));
  if (typeof proof === "string") throw corruptedReplication("a refusal from the member that dialed");
  if (!sameProof(proof, proofOf("dialer", token, hellos))) {
    await connection.write(framed(encodeRefusal("token")));
    throw new PeerMisfit(otherToken(other, place));
  }
  const misfit = misfitOf(own, other, { place, expected: other.from });
  if (misfit === null && await options.isTaken(other)) {
    await connection.write(framed(encodeRefusal("index")));
    throw new PeerMisfit(
      `another process, at ${place}, says that it is member ${other.from}, which is connected: check its --replica`,
    );
  }
  // Version 1 has neither the question nor the refusal.
  const atHome = misfit === null && spokenVersion(own, other) >= 2 ? await options.misfitAtHome(other) : null;
  if (atHome !== null) {
    await connection.write(framed(encodeRefusal("order")));
    throw new PeerMisfit(atHome);
  }
  await connection.write(framed(encodeProof(proofOf("acceptor", token, hellos))));
  if (misfit !== null) throw new PeerMisfit(misfit);
  return { own, other, input };
}

/** Raises what is wrong before the proofs. */
function expectFit(own: PeerHello, other: PeerHello, place: string): void {
  const misfit = misfitBeforeProof(own, other, place);
  if (misfit === null) return;
  throw new PeerMisfit(misfit, own.version < other.oldestVersion ? other.from : null);
}

/** What is said to a dialer in the place of the hello. */
function earlyRefusal(refusal: Refusal, place: string): string {
  return refusal === "secure"
    ? `the member at ${place} speaks TLS: give all members --peer-ca, --peer-cert and --peer-key`
    : `the member at ${place} does not accept the certificate of this one: see its log`;
}

function refusedLine(
  refusal: Refusal,
  { own, other, place }: { readonly own: PeerHello; readonly other: PeerHello; readonly place: string },
): string {
  if (refusal === "token") return otherToken(other, place);
  if (refusal === "order") {
    return `member ${other.from} at ${place} finds another member where it would dial this one: check --replica here ` +
      "and the order of --peers there";
  }
  return `the member at ${place} is connected to another process that says that it is member ${own.from}: ` +
    "check --replica here";
}

function otherToken(other: PeerHello, place: string): string {
  return `member ${other.from} at ${place} has another token: give all members the same --token-file`;
}

async function read(input: PeerInput): Promise<Uint8Array> {
  const frame = await input.next();
  if (frame === null) throw new Error("the connection ended in the hello");
  return frame;
}
