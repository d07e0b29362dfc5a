import type { Dtype } from '../../domain/chat/runtime.js';

/** What exports call the weights of each type, in the folder `onnx`. */
export const weightsFiles: Readonly<Record<Dtype, string>> = {
  fp32: 'model.onnx',
  fp16: 'model_fp16.onnx',
  q8: 'model_quantized.onnx',
  int8: 'model_int8.onnx',
  uint8: 'model_uint8.onnx',
  q4: 'model_q4.onnx',
  q4f16: 'model_q4f16.onnx',
  bnb4: 'model_bnb4.onnx',
};
