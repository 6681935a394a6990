import { float32, int64, type Session, tensor } from '../../runtime/session.ts';
import type { Joint } from './greedy.ts';

/** Inputs and outputs of `decoder_joint-model.onnx`, the predictor (an LSTM) and the joint in one network, as NeMo exports it. */
export const JOINT = {
  frames: 'encoder_outputs', // [batch x width x frames]
  targets: 'targets', // int32 [batch x tokens]
  targetLength: 'target_length', // int32 [batch]
  states: ['input_states_1', 'input_states_2'], // [layers x batch x width]
  logits: 'outputs', // [batch x frames x tokens x (vocabulary + durations)]
  nextStates: ['output_states_1', 'output_states_2'],
} as const;

/** The ports of GigaAM's joint. Those of its predictor, token and state in, output and state out, have other names in each version, in this order. */
export const SEPARATE = { frames: 'enc', predicted: 'dec', logits: 'joint' } as const;

/** The two tensors of an LSTM's state. */
export type State = readonly [Float32Array, Float32Array];

/** Whether a network joins several frames at once; some exports accept one only. @param frames its input for them */
export function joinsSeveral(session: Session, frames: string = JOINT.frames): boolean {
  return session.dimensions(frames)[2] !== 1;
}

/** Throws if a port is missing. */
export function openJoint(session: Session): Joint<State> {
  requirePorts(session, [JOINT.frames, JOINT.targets, JOINT.targetLength, ...JOINT.states], [JOINT.logits, ...JOINT.nextStates]);
  const shapes = shapesOf(session, JOINT.states);
  return {
    start: [zeros(shapes[0]), zeros(shapes[1])],
    run: async (frames, count, token, [first, second]) => {
      const found = await session.run(
        {
          [JOINT.frames]: float32(frames, [1, frames.length / count, count]),
          [JOINT.targets]: tensor('int32', Int32Array.of(token), [1, 1]),
          [JOINT.targetLength]: tensor('int32', Int32Array.of(1), [1]),
          [JOINT.states[0]]: float32(first, shapes[0]),
          [JOINT.states[1]]: float32(second, shapes[1]),
        },
        { [JOINT.logits]: null, [JOINT.nextStates[0]]: null, [JOINT.nextStates[1]]: null },
      );
      const at = (name: string) => found[name]!.data as Float32Array;
      return { logits: at(JOINT.logits), state: [at(JOINT.nextStates[0]), at(JOINT.nextStates[1])] };
    },
  };
}

/**
 * Predictor and joint as two networks, as GigaAM exports them. The predictor runs once for each token: its output is kept while blanks are
 * written. Throws if a port is missing.
 */
export function openSeparate(predictor: Session, joint: Session): Joint<State> {
  requirePorts(joint, [SEPARATE.frames, SEPARATE.predicted], [SEPARATE.logits]);
  const [target, ...states] = predictor.inputs as [string, string, string];
  const [output, ...nextStates] = predictor.outputs as [string, string, string];
  if (predictor.inputs.length !== 3 || predictor.outputs.length !== 3)
    throw new Error(
      `Cannot use the predictor: found the inputs ${predictor.inputs.join(', ')} and the outputs ${predictor.outputs.join(', ')}, wanted a token and two states in, a vector and two states out`,
    );
  const shapes = shapesOf(predictor, states);
  let last: { token: number; state: State; predicted: Float32Array; next: State } | undefined;
  const predict = async (token: number, state: State) => {
    if (last?.token === token && last.state === state) return last;
    const found = await predictor.run({
      [target]: int64(BigInt64Array.of(BigInt(token)), [1, 1]),
      [states[0]]: float32(state[0], shapes[0]),
      [states[1]]: float32(state[1], shapes[1]),
    });
    const at = (name: string) => found[name]!.data as Float32Array;
    last = { token, state, predicted: at(output), next: [at(nextStates[0]), at(nextStates[1])] };
    return last;
  };
  return {
    start: [zeros(shapes[0]), zeros(shapes[1])],
    run: async (frames, count, token, state) => {
      const { predicted, next } = await predict(token, state);
      const found = await joint.run({
        [SEPARATE.frames]: float32(frames, [1, frames.length / count, count]),
        [SEPARATE.predicted]: float32(predicted, [1, predicted.length, 1]),
      });
      return { logits: found[SEPARATE.logits]!.data as Float32Array, state: next };
    },
  };
}

function zeros(shape: number[]): Float32Array {
  return new Float32Array(shape.reduce((product, size) => product * size));
}

/** Shapes of the states: [layers x 1 x width]. Throws if the file does not fix them. */
function shapesOf(session: Session, states: readonly string[]): [number[], number[]] {
  return states.map((name) => {
    const [layers, , width] = session.dimensions(name);
    if (typeof layers === 'number' && typeof width === 'number') return [layers, 1, width];
    throw new Error(`Cannot use the decoder: the size of ${name} is not fixed in the file, so it cannot be started`);
  }) as [number[], number[]];
}

function requirePorts({ inputs, outputs }: Session, wantedIn: readonly string[], wantedOut: readonly string[]): void {
  const missing = [...wantedIn.filter((name) => !inputs.includes(name)), ...wantedOut.filter((name) => !outputs.includes(name))];
  if (missing.length)
    throw new Error(`Cannot use the decoder: it lacks ${missing.join(', ')}; found ${[...inputs, ...outputs].join(', ')}`);
}
