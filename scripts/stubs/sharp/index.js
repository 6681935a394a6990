// Stands in for sharp, which @xenova/transformers asks for and which downloads a binary: Longhand reads no images.
module.exports = () => {
  throw new Error('sharp is not part of Longhand');
};
