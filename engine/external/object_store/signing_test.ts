/** Signatures of object stores against the examples that Amazon and Microsoft publish. */
import { strict as assert } from "node:assert";
import { httpTime, sharedKeyHeaders, textToSign } from "./azure_shared_key.ts";
import { amazonTime, EMPTY_HASH, encodeSegment, isoTime, signedHeaders } from "./signature_v4.ts";

const S3_EXAMPLE = {
  keyId: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "s3",
};
const SUITE = {
  keyId: "AKIDEXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "service",
};

function signature(headers: Record<string, string>): string {
  return /Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? "")?.[1] ?? "";
}

Deno.test("signedHeaders() gives the signatures of Amazon's examples for S3", () => {
  const headers = { "x-amz-content-sha256": EMPTY_HASH, "x-amz-date": "20130524T000000Z" };
  const host = "https://examplebucket.s3.amazonaws.com";
  const cases: [string, Record<string, string>, string][] = [
    ["/test.txt", { range: "bytes=0-9" }, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"],
    ["/?lifecycle", {}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    ["/?max-keys=2&prefix=J", {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
  ];
  for (const [path, more, expected] of cases) {
    const url = new URL(host + path);
    const signed = signedHeaders({ method: "GET", url, headers: { ...headers, ...more } }, S3_EXAMPLE);
    assert.equal(signature(signed), expected, path);
  }
});

Deno.test("signedHeaders() gives the signatures of the published test suite", () => {
  const cases: [string, string][] = [
    ["/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"],
    ["/%E1%88%B4", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"],
  ];
  for (const [path, expected] of cases) {
    const url = new URL(`https://example.amazonaws.com${path}`);
    const headers = { "x-amz-date": "20150830T123600Z" };
    assert.equal(signature(signedHeaders({ method: "GET", url, headers }, SUITE)), expected, path);
  }
});

Deno.test("textToSign() is the text of Microsoft's documentation", () => {
  const url = new URL(
    "https://myaccount.blob.core.windows.net/mycontainer?restype=container&comp=metadata&timeout=20",
  );
  const headers = { "x-ms-version": "2015-02-21", "x-ms-date": "Fri, 26 Jun 2015 23:39:12 GMT" };
  assert.equal(
    textToSign({ method: "GET", url, headers }, "myaccount"),
    "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n" +
      "/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20",
  );
  const listed = new URL(
    "https://myaccount-secondary.blob.core.windows.net/mycontainer/myblob?include=snapshots&INCLUDE=metadata",
  );
  assert.match(
    textToSign(
      { method: "GET", url: listed, headers: { ...headers, range: "bytes=0-9", "if-match": "e" } },
      "myaccount",
    ),
    /^GET\n{8}e\n\n\nbytes=0-9\nx-ms-date:.*\/myaccount\/mycontainer\/myblob\ninclude:metadata,snapshots$/s,
  );
  const signed = sharedKeyHeaders({ method: "GET", url, headers }, { account: "myaccount", key: "a2V5" });
  assert.match(signed?.authorization ?? "", /^SharedKey myaccount:[A-Za-z0-9+/]{43}=$/);
  assert.equal(
    sharedKeyHeaders({ method: "GET", url, headers }, { account: "a", key: "no base64!" }),
    undefined,
  );
});

Deno.test("isoTime(), amazonTime() and httpTime() agree with Date", () => {
  for (let milliseconds = 0; milliseconds < 5e12; milliseconds += 6_543_210_987) {
    const date = new Date(milliseconds);
    assert.equal(isoTime(milliseconds), date.toISOString());
    assert.equal(amazonTime(milliseconds), date.toISOString().replaceAll(/[-:]|\.\d+/g, ""));
    assert.equal(httpTime(milliseconds, isoTime(milliseconds)), date.toUTCString());
  }
});

Deno.test("encodeSegment() leaves unreserved characters only", () => {
  assert.equal(encodeSegment("a-b_c.d~e f/ü!*'()%"), "a-b_c.d~e%20f%2F%C3%BC%21%2A%27%28%29%25");
});
