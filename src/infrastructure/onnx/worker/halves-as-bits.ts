// The native library finds no data in the array that newer versions of Node have for half-precision numbers. Where there
// is no such array, it takes and gives them as their bits. Each thread that runs a model imports this.
Reflect.deleteProperty(globalThis, 'Float16Array');
