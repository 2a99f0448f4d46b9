/** Tests of SCRAM-SHA-256 against the exchange in RFC 7677, section 3, and against malformed clients. */
import { deepStrictEqual as same, strictEqual as equal, throws } from "node:assert/strict";
import { prepareText, ScramExchange, ScramVerifier } from "./scram.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function exchange(password = "pencil"): ScramExchange {
  const salt = Uint8Array.fromBase64("W22ZaJ0SNY7soEsUEjb6gQ==");
  return new ScramExchange(new ScramVerifier(password, () => salt), "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
}

const FIRST = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const PROOF = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

Deno.test("ScramExchange follows the example of RFC 7677", () => {
  const server = exchange();
  equal(server.first(encode(FIRST)), `r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`);
  equal(
    server.final(encode(`c=biws,r=${NONCE},p=${PROOF}`)),
    "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
  );
});

Deno.test("ScramExchange.final() answers null for a wrong password", () => {
  const server = exchange("pencil2");
  server.first(encode(FIRST));
  equal(server.final(encode(`c=biws,r=${NONCE},p=${PROOF}`)), null);
});

Deno.test("ScramExchange refuses malformed messages", () => {
  const first = (text: string): void => {
    throws(() => exchange().first(encode(text)), { code: /^(08P01|0A000)$/ }, text);
  };
  for (
    const text of [
      "",
      "n,,",
      "x,,n=,r=abc",
      "n,,n=,r=",
      "n,a=other,n=,r=abc",
      "n,,m=ext,n=,r=abc",
      "p=tls-server-end-point,,n=,r=abc",
      "n,,n=,r=a b",
    ]
  ) first(text);
  const final = (text: string): void => {
    const server = exchange();
    server.first(encode(FIRST));
    throws(() => server.final(encode(text)), { code: "08P01" }, text);
  };
  for (
    const text of [
      "",
      "c=biws",
      `c=eSws,r=${NONCE},p=${PROOF}`,
      `c=biws,r=other,p=${PROOF}`,
      `c=biws,r=${NONCE},p=!!!`,
      `c=biws,r=${NONCE},p=AAAA`,
    ]
  ) final(text);
  throws(() => exchange().first(Uint8Array.of(0xff)), { code: "08P01" });
});

Deno.test("ScramExchange.first() accepts the flag of clients that know channel binding", () => {
  const server = exchange();
  server.first(encode(FIRST.replace("n,,", "y,,")));
  equal(server.final(encode(`c=eSws,r=${NONCE},p=${PROOF}`)), null);
});

/** A server on an encrypted connection, whose client chooses the mechanism. */
function boundExchange(mechanism: string): ScramExchange {
  const salt = Uint8Array.fromBase64("W22ZaJ0SNY7soEsUEjb6gQ==");
  const verifier = new ScramVerifier("pencil", () => salt);
  const server = new ScramExchange(verifier, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", END_POINT);
  equal(server.choose(mechanism), true);
  return server;
}

const END_POINT = Uint8Array.of(1, 2, 3, 4);
const BOUND_FIRST = FIRST.replace("n,,", "p=tls-server-end-point,,");

Deno.test("ScramExchange binds SCRAM-SHA-256-PLUS to the certificate, and notices a downgrade", () => {
  equal(exchange().choose("SCRAM-SHA-256-PLUS"), false);
  const final = (first: string, header: Uint8Array): string | null => {
    const server = boundExchange("SCRAM-SHA-256-PLUS");
    server.first(encode(first));
    return server.final(encode(`c=${header.toBase64()},r=${NONCE},p=${PROOF}`));
  };
  const header = encode("p=tls-server-end-point,,");
  // The proof is of other messages: only the binding is right.
  equal(final(BOUND_FIRST, Uint8Array.of(...header, ...END_POINT)), null);
  for (const wrong of [header, Uint8Array.of(...header, 1, 2, 3, 5), encode("n,,")]) {
    throws(() => final(BOUND_FIRST, wrong), { code: "28000", message: "SCRAM channel binding check failed" });
  }
  throws(() => final("p=tls-unique,,n=,r=abc", header), { code: "08P01", message: /"tls-unique"/ });
  throws(() => final(FIRST, header), { code: "08P01" });
  throws(() => boundExchange("SCRAM-SHA-256").first(encode(FIRST.replace("n,,", "y,,"))), {
    code: "28000",
    message: "SCRAM channel binding negotiation error",
  });
  throws(() => boundExchange("SCRAM-SHA-256").first(encode(BOUND_FIRST)), { code: "08P01" });
  // A client that knows no channel binding.
  const server = boundExchange("SCRAM-SHA-256");
  server.first(encode(FIRST));
  equal(typeof server.final(encode(`c=biws,r=${NONCE},p=${PROOF}`)), "string");
});

Deno.test("prepareText() normalizes as SASLprep does", () => {
  same(["I\u00ADX", "user", "\u00AA", "\u2168", "a\u00A0b"].map(prepareText), [
    "IX",
    "user",
    "a",
    "IX",
    "a b",
  ]);
});
