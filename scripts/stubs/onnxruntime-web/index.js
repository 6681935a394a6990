// Stands in for onnxruntime-web: Longhand opens its sessions with onnxruntime-node. @xenova/transformers sets env.wasm on load.
module.exports = { env: { wasm: {} } };
