/** Tones and samples, by the Web Audio API. */

const WAVES = ["sine", "square", "triangle", "sawtooth"];

/**
 * Plays what a game asks for. Browsers allow sound only after the player has pressed something: until then all is
 * silent.
 */
export class Sound {
  #context = null;
  #samples = new Map();
  /** Samples that are repeated until they are stopped; null while the page is still silent. */
  #loops = new Map();

  constructor() {
    for (const kind of ["keydown", "pointerdown", "touchend"]) addEventListener(kind, () => this.#unlock());
  }

  async #unlock() {
    const isFirst = this.#context === null;
    this.#context ??= new AudioContext();
    if (this.#context.state === "suspended") await this.#context.resume();
    if (!isFirst) return;
    for (const [name, { options }] of this.#loops) this.playSample(name, options);
  }

  /**
   * A tone: number of its wave, frequencies at its start and end, duration, volume, and seconds of its rise and fall.
   */
  play([wave, frequency, endFrequency, duration, volume, attack, release]) {
    const context = this.#context;
    if (context?.state !== "running") return;
    const start = context.currentTime;
    const end = start + duration;
    const type = WAVES[wave];
    const source = type === undefined ? this.#noise() : new OscillatorNode(context, { type, frequency });
    source.frequency?.linearRampToValueAtTime(endFrequency, end);
    // Without a rise and a fall a tone would begin and end with a click.
    const loudness = new GainNode(context, { gain: 0 });
    const { gain } = loudness;
    const isLoud = Math.min(start + attack, end);
    gain.setValueAtTime(0, start);
    gain.linearRampToValueAtTime(volume, isLoud);
    gain.setValueAtTime(volume, Math.max(isLoud, end - release));
    gain.linearRampToValueAtTime(0, end);
    source.connect(loudness).connect(context.destination);
    source.start(start);
    source.stop(end);
  }

  /** A second of chance numbers, again and again. */
  #noise() {
    const context = this.#context;
    const buffer = context.createBuffer(1, context.sampleRate, context.sampleRate);
    const data = buffer.getChannelData(0);
    for (let index = 0; index < data.length; index++) data[index] = Math.random() * 2 - 1;
    return new AudioBufferSourceNode(context, { buffer, loop: true });
  }

  /** Plays a file of the folder. */
  async playSample(name, options) {
    const { volume, speed, isLooped } = options;
    if (isLooped) {
      this.stopSample(name);
      this.#loops.set(name, { options, source: null });
    }
    if (this.#context?.state !== "running") return;
    if (!this.#samples.has(name)) this.#samples.set(name, this.#load(name));
    const source = new AudioBufferSourceNode(this.#context, {
      buffer: await this.#samples.get(name),
      loop: isLooped,
      playbackRate: speed,
    });
    const isStopped = isLooped && this.#loops.get(name)?.options !== options;
    if (isStopped) return;
    if (isLooped) this.#loops.set(name, { options, source });
    source.connect(new GainNode(this.#context, { gain: volume })).connect(this.#context.destination);
    source.start();
  }

  async #load(name) {
    const response = await fetch(name);
    return this.#context.decodeAudioData(await response.arrayBuffer());
  }

  /** Ends a sample that is repeated. */
  stopSample(name) {
    this.#loops.get(name)?.source?.stop();
    this.#loops.delete(name);
  }
}
