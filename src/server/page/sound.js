// Sounds, made here: short tones of WebAudio. Off unless the settings say otherwise.

import { settings } from "./settings.js";

let audio = null;

/** Frequency, start and length of each tone. */
const TONES = {
  move: [[220, 0, 0.07]],
  capture: [[160, 0, 0.06], [110, 0.05, 0.09]],
  check: [[440, 0, 0.09], [330, 0.1, 0.12]],
  turn: [[392, 0, 0.08], [523, 0.09, 0.12]],
  end: [[523, 0, 0.15], [392, 0.16, 0.15], [262, 0.32, 0.3]],
};

export function play(name) {
  if (!settings.sound || !TONES[name]) return;
  try {
    audio ??= new AudioContext();
    if (audio.state === "suspended") audio.resume();
    for (const [frequency, start, length] of TONES[name]) {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      const from = audio.currentTime + start;
      tone.type = "triangle";
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.25, from);
      volume.gain.exponentialRampToValueAtTime(0.001, from + length);
      tone.connect(volume).connect(audio.destination);
      tone.start(from);
      tone.stop(from + length);
    }
  } catch {
    // A browser without sound plays in silence.
  }
}
