/** The model can't be used. The message names the part and its file within the folder, for whoever mends the model. */
export class BrokenModel extends Error {
  constructor(part: string, problem: string) {
    super(`${part}: ${problem}`);
  }
}
