/** What a member with a checkpoint answers to one that fetches it, for tests that have no second member. */
import type { Manifest } from "../../storage/manifest.ts";
import type { CheckpointDonor } from "../files/checkpoint_donor.ts";
import type { PeerMessage, TransferMessage } from "../protocol/message.ts";

/** The answer of the donor, as from this member in this view; null: it has none. */
export function answerOf(
  donor: CheckpointDonor,
  manifest: Manifest | null,
  message: PeerMessage,
  sent: { readonly from: number; readonly view: number },
): TransferMessage | null {
  if (message.kind === "request_checkpoint") {
    const offer = donor.offer(manifest, message.op);
    return offer === null ? null : { kind: "checkpoint_files", ...sent, ...offer };
  }
  if (message.kind !== "request_file") return null;
  const { name, hash, offset } = message;
  const bytes = donor.read({ name, hash }, offset, manifest) ?? new Uint8Array(0);
  return { kind: "file_piece", ...sent, name, hash, offset, bytes };
}
