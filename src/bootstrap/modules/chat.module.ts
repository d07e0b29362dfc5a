import { ContainerModule } from 'inversify';
import { Audit } from '../../application/audit/audit.js';
import { CompleteChat } from '../../application/chat/complete-chat.js';
import { ConnectRuntime } from '../../application/chat/connect-runtime.js';
import { DeleteConversation } from '../../application/chat/delete-conversation.js';
import { DisconnectRuntime } from '../../application/chat/disconnect-runtime.js';
import { KeepTurn } from '../../application/chat/keep-turn.js';
import { ListConversations } from '../../application/chat/list-conversations.js';
import { OwnConversations } from '../../application/chat/own-conversations.js';
import { ChatRuntimes } from '../../application/chat/ports/chat-runtimes.js';
import { Conversations } from '../../application/chat/ports/conversations.js';
import { ModelFolders } from '../../application/chat/ports/model-folders.js';
import { RuntimeConnections } from '../../application/chat/ports/runtime-connections.js';
import { ReadConversation } from '../../application/chat/read-conversation.js';
import { ReadRuntime } from '../../application/chat/read-runtime.js';
import { RuntimeStates } from '../../application/chat/runtime-states.js';
import { SettleRuntime } from '../../application/chat/settle-runtime.js';
import { SwitchRuntime } from '../../application/chat/switch-runtime.js';
import { TendRuntimes } from '../../application/chat/tend-runtimes.js';
import { TrackCalls } from '../../application/jobs/track-calls.js';
import { Ownership } from '../../application/processes/ownership.js';
import { OtherProcesses } from '../../application/processes/ports/other-processes.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { Log } from '../../application/shared/ports/log.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { Models } from '../../application/workspace/ports/models.js';
import { ProjectModels } from '../../application/workspace/project-models.js';
import { OnnxChatRuntime } from '../../infrastructure/chat-engine/onnx-chat-runtime.js';
import { LocalModelFolders } from '../../infrastructure/files/local-model-folders.js';
import { OpenAiChatRuntime } from '../../infrastructure/openai/openai-chat-runtime.js';
import { ChatRuntimesByKind } from '../../infrastructure/runtimes/chat-runtimes-by-kind.js';
import { SystemClock } from '../../infrastructure/system/system-clock.js';
import { TypeOrmConversations } from '../../infrastructure/typeorm/chat/typeorm-conversations.js';
import { TypeOrmRuntimeConnections } from '../../infrastructure/typeorm/chat/typeorm-runtime-connections.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { CompletionsController } from '../../interfaces/http/chat/completions.controller.js';
import { ConversationsController } from '../../interfaces/http/chat/conversations.controller.js';
import { RuntimeController } from '../../interfaces/http/chat/runtime.controller.js';
import type { Config } from '../config/config.js';
import { shippedProgram } from '../config/shipped.js';
import { provide, provideValue } from '../provide.js';
import { EngineRules } from '../tokens.js';

/** How long a model process may take to end by itself before it is ended. */
const STOP_GRACE_MS = 3_000;

export const chatModule = (config: Config, log: Log) =>
  new ContainerModule((module) => {
    const limits = {
      timeoutMs: config.inferenceTimeoutMs,
      loadTimeoutMs: config.runtimeLoadTimeoutMs,
      queue: config.chatQueue,
    };
    const children = {
      ...limits,
      worker: shippedProgram('infrastructure/chat-engine/worker/main.js'),
      threads: config.servingThreads,
      stopGraceMs: STOP_GRACE_MS,
    };
    const runtimes = {
      onnx: new OnnxChatRuntime(children, new SystemClock(), log),
      openai: new OpenAiChatRuntime(limits, new SystemClock(), log),
    };
    provideValue(module, ChatRuntimes, new ChatRuntimesByKind(runtimes));
    provideValue(module, EngineRules, config.upstream);
    provideValue(module, ModelFolders, new LocalModelFolders(config.modelFolders));
    provide(module, RuntimeConnections, TypeOrmRuntimeConnections, [TypeOrmUnitOfWork]);
    provide(module, RuntimeStates, RuntimeStates, [
      RuntimeConnections,
      ChatRuntimes,
      SettleRuntime,
      Ownership,
      OtherProcesses,
    ]);
    provide(module, SettleRuntime, SettleRuntime, [
      RuntimeConnections,
      Models,
      ModelFolders,
      ChatRuntimes,
      EngineRules,
      Ownership,
      OtherProcesses,
    ]);
    provide(module, ReadRuntime, ReadRuntime, [ProjectModels, RuntimeStates]);
    provide(module, ConnectRuntime, ConnectRuntime, [
      ProjectModels,
      RuntimeConnections,
      SettleRuntime,
      RuntimeStates,
      Audit,
    ]);
    provide(module, SwitchRuntime, SwitchRuntime, [
      ProjectModels,
      RuntimeConnections,
      SettleRuntime,
      RuntimeStates,
      Audit,
    ]);
    provide(module, DisconnectRuntime, DisconnectRuntime, [
      ProjectModels,
      RuntimeConnections,
      SettleRuntime,
      RuntimeStates,
      Audit,
    ]);
    provide(module, TendRuntimes, TendRuntimes, [RuntimeConnections, SettleRuntime, Ownership, Log]);
    provide(module, Conversations, TypeOrmConversations, [TypeOrmUnitOfWork]);
    provide(module, OwnConversations, OwnConversations, [ProjectModels, Conversations]);
    provide(module, KeepTurn, KeepTurn, [OwnConversations, Conversations, UnitOfWork, Identifiers, Clock]);
    provide(module, CompleteChat, CompleteChat, [
      ProjectModels,
      OwnConversations,
      KeepTurn,
      RuntimeStates,
      ChatRuntimes,
      TrackCalls,
      Ownership,
    ]);
    provide(module, ListConversations, ListConversations, [ProjectModels, Conversations]);
    provide(module, ReadConversation, ReadConversation, [OwnConversations, Conversations]);
    provide(module, DeleteConversation, DeleteConversation, [OwnConversations, Conversations]);
    provide(module, RuntimeController, RuntimeController, [
      Ownership,
      ReadRuntime,
      ConnectRuntime,
      SwitchRuntime,
      DisconnectRuntime,
    ]);
    provide(module, CompletionsController, CompletionsController, [CompleteChat, Identifiers, Clock]);
    provide(module, ConversationsController, ConversationsController, [
      ListConversations,
      ReadConversation,
      DeleteConversation,
    ]);
  });
