import type { ChatMessage } from '../../../src/domain/chat/chat.js';
import { Conversation } from '../../../src/domain/chat/conversation.js';

describe('the title of a conversation', () => {
  const draft = { id: 'cnv_1', projectId: 'prj_1', accountId: 'usr_1', createdAt: new Date(0) };
  const titled = (...messages: ChatMessage[]) => Conversation.begin(draft, messages).title;
  const asked = (content: string) => titled({ role: 'user', content });

  it.each([
    ['What is 7 + 5?', 'What is 7 + 5?'],
    ['  one\r\n\ttwo\u2028three\u0085four\u00a0 five \u001b[31m ', 'one two three four five [31m'],
    ['\u{1F986}'.repeat(81), '\u{1F986}'.repeat(80)],
    [`${'a '.repeat(39)}${'b'.repeat(9)}`, `${'a '.repeat(39)}bb`],
    [`${' \n'.repeat(7_000)}late`, 'late'],
    ['', 'Untitled conversation'],
    [' \n\t ', 'Untitled conversation'],
  ])('is the beginning of the question, on one line (%#)', (question, title) => {
    expect(asked(question)).toBe(title);
  });

  it('is of the first question, whatever was said before it', () => {
    const system: ChatMessage = { role: 'system', content: 'Be brief.' };
    const greeting: ChatMessage = { role: 'assistant', content: 'Hello' };
    const questions: ChatMessage[] = ['first', 'second'].map((content) => ({ role: 'user', content }));
    expect(titled(system, greeting, ...questions)).toBe('first');
  });
});
