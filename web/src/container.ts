/** Reads the block of bytes that FORMAT.md describes. */

type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array;
type Place = [dtype: string, shape: number[], offset: number];

const KINDS: Record<string, new (buffer: ArrayBuffer, offset: number, length: number) => Numbers> = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
};

export interface Info {
  title: string;
  n_items: number;
  n_embedded: number;
  trees: { key: TreeKey; label: string; n_nodes: number; n_levels: number; unit: string | null }[];
  about: string[];
  chains: { converged: boolean; sentences: string[] } | null;
  compare: { left: string; right: string; sentences: string[] } | null;
  images: { height: number; width: number; channels: number } | null;
  support_means: string;
  opens_with: "tree" | "dendrogram";
}

export type TreeKey = "tree" | "dendrogram" | "compare";

/** Texts that are decoded when they are asked for: a page may have a hundred thousand names. */
export class Texts {
  private readonly decoder = new TextDecoder();
  constructor(
    private readonly ends: Numbers,
    private readonly utf8: Uint8Array,
  ) {}

  get length(): number {
    return this.ends.length;
  }

  at(i: number): string {
    return this.decoder.decode(this.utf8.subarray(i > 0 ? this.ends[i - 1] : 0, this.ends[i]));
  }
}

export class Container {
  readonly info: Info;
  private readonly places: Record<string, Place>;
  private readonly base: number;

  constructor(private readonly bytes: ArrayBuffer) {
    const length = new DataView(bytes).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
    if (header.format !== 1) throw new Error(`This page has data of format ${header.format}, and its program reads format 1.`);
    this.info = header.info;
    this.places = header.arrays;
    this.base = Math.ceil((4 + length) / 8) * 8;
  }

  has(name: string): boolean {
    return name in this.places || `${name}.ends` in this.places;
  }

  shape(name: string): number[] {
    return this.place(name)[1];
  }

  floats(name: string): Float32Array {
    return this.numbers(name) as Float32Array;
  }

  ints(name: string): Int32Array | Uint32Array | Uint16Array | Uint8Array {
    return this.numbers(name) as Int32Array;
  }

  texts(name: string): Texts {
    return new Texts(this.numbers(`${name}.ends`), this.numbers(`${name}.utf8`) as Uint8Array);
  }

  private numbers(name: string): Numbers {
    const [dtype, shape, offset] = this.place(name);
    const length = shape.reduce((product, one) => product * one, 1);
    return new KINDS[dtype](this.bytes, this.base + offset, length);
  }

  private place(name: string): Place {
    const place = this.places[name];
    if (!place) throw new Error(`This page has no data named ${name}.`);
    return place;
  }
}

/** The container in compressed bytes. */
export async function unpack(compressed: BufferSource): Promise<Container> {
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Container(await new Response(stream).arrayBuffer());
}

/** Bytes from the base64 of a page. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}
