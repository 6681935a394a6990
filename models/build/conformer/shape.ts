/** Dimensions of a FastConformer encoder, named after NeMo's ConformerEncoder. */
export interface Conformer {
  melBins: 80 | 128;
  layers: number;
  /** Channels between the layers. */
  width: number;
  heads: number;
  /** Channels inside a feed-forward half. */
  inner: number;
  /** Taps of the depthwise convolutions. */
  kernel: number;
  /** Frames of features per frame of the encoder. */
  subsampling: 4 | 8;
  /** Channels of the convolutions before the layers. */
  channels: number;
  /** Whether the layers' input is multiplied by the square root of the width. */
  scaled: boolean;
  /** Whether linear layers and convolutions of the layers have a bias. */
  bias: boolean;
  norm: 'batch_norm' | 'layer_norm';
}

/** Dimensions of the predictor, an LSTM, and the joint. */
export interface Predictor {
  layers: number;
  width: number;
  joint: number;
  activation: 'relu' | 'tanh' | 'sigmoid';
  /** Module of the joint's last matrix: it comes after a dropout, if there is one. */
  last: string;
}

/** Shapes by the name of the tensor. */
export type Shapes = Map<string, number[]>;

/** The tensors of an encoder, by NeMo's names. */
export function encoderShapes(model: Conformer): Shapes {
  const { melBins, layers, width, channels, subsampling } = model;
  const shapes: Shapes = new Map();
  const module = (name: string, ...weight: number[]) => shapes.set(`${name}.weight`, weight).set(`${name}.bias`, [weight[0]!]);
  module('encoder.pre_encode.conv.0', channels, 1, 3, 3);
  for (let i = 2; i <= 3 * Math.log2(subsampling) - 4; i += 3) {
    module(`encoder.pre_encode.conv.${i}`, channels, 1, 3, 3);
    module(`encoder.pre_encode.conv.${i + 1}`, channels, channels, 1, 1);
  }
  module('encoder.pre_encode.out', width, (channels * melBins) / subsampling);
  for (let l = 0; l < layers; l++) addLayer(shapes, `encoder.layers.${l}`, model);
  return shapes;
}

function addLayer(shapes: Shapes, layer: string, { width, heads, inner, kernel, bias, norm }: Conformer): void {
  const own = (name: string, ...shape: number[]) => shapes.set(`${layer}.${name}`, shape);
  const module = (name: string, ...weight: number[]) => {
    own(`${name}.weight`, ...weight);
    if (bias) own(`${name}.bias`, weight[0]!);
  };
  for (const name of ['norm_feed_forward1', 'norm_self_att', 'norm_conv', 'norm_feed_forward2', 'norm_out', 'conv.batch_norm']) {
    own(`${name}.weight`, width);
    own(`${name}.bias`, width);
  }
  if (norm === 'batch_norm') for (const name of ['running_mean', 'running_var']) own(`conv.batch_norm.${name}`, width);
  for (const half of ['feed_forward1', 'feed_forward2']) {
    module(`${half}.linear1`, inner, width);
    module(`${half}.linear2`, width, inner);
  }
  for (const name of ['q', 'k', 'v', 'out']) module(`self_attn.linear_${name}`, width, width);
  own('self_attn.linear_pos.weight', width, width);
  for (const name of ['u', 'v']) own(`self_attn.pos_bias_${name}`, heads, width / heads);
  module('conv.pointwise_conv1', 2 * width, width, 1);
  module('conv.depthwise_conv', width, 1, kernel);
  module('conv.pointwise_conv2', width, width, 1);
}

/** The tensors of a CTC head. */
export function headShapes(module: string, width: number, outputs: number): Shapes {
  return new Map([
    [`${module}.weight`, [outputs, width, 1]],
    [`${module}.bias`, [outputs]],
  ]);
}

/** The tensors of a predictor and joint. */
export function predictorShapes({ layers, width, joint, last }: Predictor, encoder: number, tokens: number, outputs: number): Shapes {
  const shapes: Shapes = new Map([['decoder.prediction.embed.weight', [tokens, width]]]);
  const module = (name: string, rows: number, columns: number) => shapes.set(`${name}.weight`, [rows, columns]).set(`${name}.bias`, [rows]);
  for (let l = 0; l < layers; l++) {
    for (const side of ['ih', 'hh'])
      shapes
        .set(`decoder.prediction.dec_rnn.lstm.weight_${side}_l${l}`, [4 * width, width])
        .set(`decoder.prediction.dec_rnn.lstm.bias_${side}_l${l}`, [4 * width]);
  }
  module('joint.enc', joint, encoder);
  module('joint.pred', joint, width);
  module(last, outputs, joint);
  return shapes;
}
