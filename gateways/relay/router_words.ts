/** What the thread that has the sessions and a router's thread say to each other besides clients' bytes. */
import type { BEGINNING } from "../shared/beginning.ts";
import type { ListenerAddress } from "../shared/listen.ts";

/** What routers listen for. */
export type RoutedProtocol = keyof typeof BEGINNING;

/** How often clients were encrypted. */
export interface TlsCounts {
  readonly connections: number;
  readonly handshakes: number;
  readonly failures: number;
}

/** A protocol, and where its clients come to. */
export interface RoutedListener {
  readonly protocol: RoutedProtocol;
  readonly address: ListenerAddress;
}

/** What a router hears. */
export type ToRouter =
  | { readonly kind: "listen"; readonly listener: RoutedListener }
  /** Nobody is accepted there any more. */
  | { readonly kind: "close"; readonly protocol: RoutedProtocol }
  /** For the handshakes from now on; PEM. */
  | { readonly kind: "certificate"; readonly chain: string; readonly key: string }
  /** It is to end as soon as its clients have what they were sent. */
  | { readonly kind: "finish" };

/** What a router says. */
export type FromRouter =
  | { readonly kind: "listening"; readonly protocol: RoutedProtocol }
  | {
    readonly kind: "refused";
    readonly protocol: RoutedProtocol;
    readonly code: string;
    readonly message: string;
  }
  | { readonly kind: "tls"; readonly counts: TlsCounts }
  | { readonly kind: "finished" };
