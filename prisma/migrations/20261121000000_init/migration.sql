-- CreateEnum
CREATE TYPE "role" AS ENUM ('owner', 'admin', 'developer', 'viewer');

-- CreateEnum
CREATE TYPE "actor_type" AS ENUM ('user', 'service_token', 'resource', 'system');

-- CreateEnum
CREATE TYPE "change_type" AS ENUM ('created', 'updated', 'rolled_back');

-- CreateEnum
CREATE TYPE "token_scope" AS ENUM ('organization', 'project', 'environment');

-- CreateEnum
CREATE TYPE "token_permission" AS ENUM ('read', 'read_write');

-- CreateEnum
CREATE TYPE "credential_state" AS ENUM ('pending', 'active');

-- CreateTable
CREATE TABLE "app_user" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "display_name" TEXT,
    "instance_admin" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "personal_token" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "personal_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "organization" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "membership" (
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" "role" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("organization_id","user_id")
);

-- CreateTable
CREATE TABLE "project" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "environment" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "revision_number" INTEGER NOT NULL DEFAULT 0,
    "revision_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "environment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret" (
    "id" UUID NOT NULL,
    "environment_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "current_version_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret_version" (
    "id" UUID NOT NULL,
    "secret_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "change_type" "change_type" NOT NULL,
    "changed_by_id" UUID NOT NULL,
    "changed_by_type" "actor_type" NOT NULL,
    "changed_by_name" TEXT NOT NULL,
    "comment" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ciphertext" BYTEA NOT NULL,
    "data_key_id" UUID NOT NULL,
    "value_mac" BYTEA NOT NULL,
    "value_bytes" INTEGER NOT NULL,

    CONSTRAINT "secret_version_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "environment_revision" (
    "id" UUID NOT NULL,
    "environment_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "actor_id" UUID NOT NULL,
    "actor_type" "actor_type" NOT NULL,
    "actor_name" TEXT NOT NULL,
    "comment" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "environment_revision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret_change" (
    "revision_id" UUID NOT NULL,
    "secret_id" UUID NOT NULL,
    "revision_number" INTEGER NOT NULL,
    "version_id" UUID,

    CONSTRAINT "secret_change_pkey" PRIMARY KEY ("revision_id","secret_id")
);

-- CreateTable
CREATE TABLE "snapshot" (
    "id" UUID NOT NULL,
    "environment_id" UUID NOT NULL,
    "name" TEXT,
    "description" TEXT,
    "revision_id" UUID,
    "secret_count" INTEGER NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_by_type" "actor_type" NOT NULL,
    "created_by_name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "snapshot_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "snapshot_entry" (
    "snapshot_id" UUID NOT NULL,
    "secret_id" UUID NOT NULL,
    "version_id" UUID NOT NULL,

    CONSTRAINT "snapshot_entry_pkey" PRIMARY KEY ("snapshot_id","secret_id")
);

-- CreateTable
CREATE TABLE "service_token" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "scope" "token_scope" NOT NULL,
    "project_id" UUID,
    "environment_id" UUID,
    "permission" "token_permission" NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_by_type" "actor_type" NOT NULL,
    "created_by_name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service_token_credential" (
    "id" UUID NOT NULL,
    "service_token_id" UUID NOT NULL,
    "serial" INTEGER NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "state" "credential_state" NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "first_used_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_token_credential_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "data_key" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "root_key_id" TEXT NOT NULL,
    "uses_reserved" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "data_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "instance_key" (
    "name" TEXT NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "root_key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "instance_key_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "organization_id" UUID,
    "actor_type" "actor_type" NOT NULL,
    "actor_id" UUID NOT NULL,
    "actor_name" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" JSONB NOT NULL,
    "outcome" TEXT NOT NULL,
    "request_id" UUID NOT NULL,
    "source_address" TEXT,
    "label" TEXT,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "app_user_email_key" ON "app_user"("email");

-- CreateIndex
CREATE INDEX "personal_token_user_id_idx" ON "personal_token"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "organization_slug_key" ON "organization"("slug");

-- CreateIndex
CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "project_organization_id_slug_key" ON "project"("organization_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "environment_project_id_slug_key" ON "environment"("project_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "secret_current_version_id_key" ON "secret"("current_version_id");

-- CreateIndex
CREATE UNIQUE INDEX "secret_environment_id_key_key" ON "secret"("environment_id", "key");

-- CreateIndex
CREATE INDEX "secret_version_data_key_id_idx" ON "secret_version"("data_key_id");

-- CreateIndex
CREATE UNIQUE INDEX "secret_version_secret_id_version_key" ON "secret_version"("secret_id", "version");

-- CreateIndex
CREATE UNIQUE INDEX "environment_revision_environment_id_number_key" ON "environment_revision"("environment_id", "number");

-- CreateIndex
CREATE INDEX "secret_change_secret_id_revision_number_idx" ON "secret_change"("secret_id", "revision_number" DESC);

-- CreateIndex
CREATE INDEX "secret_change_version_id_idx" ON "secret_change"("version_id");

-- CreateIndex
CREATE INDEX "snapshot_environment_id_created_at_idx" ON "snapshot"("environment_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "snapshot_revision_id_idx" ON "snapshot"("revision_id");

-- CreateIndex
CREATE INDEX "snapshot_entry_version_id_idx" ON "snapshot_entry"("version_id");

-- CreateIndex
CREATE INDEX "service_token_organization_id_created_at_idx" ON "service_token"("organization_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "service_token_project_id_idx" ON "service_token"("project_id");

-- CreateIndex
CREATE INDEX "service_token_environment_id_idx" ON "service_token"("environment_id");

-- CreateIndex
CREATE UNIQUE INDEX "service_token_credential_service_token_id_serial_key" ON "service_token_credential"("service_token_id", "serial");

-- CreateIndex
CREATE INDEX "data_key_project_id_idx" ON "data_key"("project_id");

-- CreateIndex
CREATE INDEX "audit_entry_organization_id_id_idx" ON "audit_entry"("organization_id", "id" DESC);

-- AddForeignKey
ALTER TABLE "personal_token" ADD CONSTRAINT "personal_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "environment" ADD CONSTRAINT "environment_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret" ADD CONSTRAINT "secret_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "secret"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_data_key_id_fkey" FOREIGN KEY ("data_key_id") REFERENCES "data_key"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "environment_revision" ADD CONSTRAINT "environment_revision_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_change" ADD CONSTRAINT "secret_change_revision_id_fkey" FOREIGN KEY ("revision_id") REFERENCES "environment_revision"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_change" ADD CONSTRAINT "secret_change_secret_id_fkey" FOREIGN KEY ("secret_id") REFERENCES "secret"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret_change" ADD CONSTRAINT "secret_change_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "secret_version"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot" ADD CONSTRAINT "snapshot_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot" ADD CONSTRAINT "snapshot_revision_id_fkey" FOREIGN KEY ("revision_id") REFERENCES "environment_revision"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot_entry" ADD CONSTRAINT "snapshot_entry_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "snapshot"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot_entry" ADD CONSTRAINT "snapshot_entry_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "secret_version"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token" ADD CONSTRAINT "service_token_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token" ADD CONSTRAINT "service_token_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token" ADD CONSTRAINT "service_token_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token_credential" ADD CONSTRAINT "service_token_credential_service_token_id_fkey" FOREIGN KEY ("service_token_id") REFERENCES "service_token"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "data_key" ADD CONSTRAINT "data_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

-- One key of a project encrypts at a time, whatever two replicas do at once.
CREATE UNIQUE INDEX "data_key_one_active" ON "data_key"("project_id") WHERE "retired_at" IS NULL;

-- A purge deletes from the top, and these references lie across its cascades: with SET CONSTRAINTS ALL DEFERRED
-- PostgreSQL judges them at its end.
ALTER TABLE "secret_version" ALTER CONSTRAINT "secret_version_data_key_id_fkey" DEFERRABLE INITIALLY IMMEDIATE;
ALTER TABLE "snapshot" ALTER CONSTRAINT "snapshot_revision_id_fkey" DEFERRABLE INITIALLY IMMEDIATE;
ALTER TABLE "snapshot_entry" ALTER CONSTRAINT "snapshot_entry_version_id_fkey" DEFERRABLE INITIALLY IMMEDIATE;

ALTER TABLE "organization" ADD CONSTRAINT "organization_slug_form" CHECK ("slug" ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$');
ALTER TABLE "project" ADD CONSTRAINT "project_slug_form" CHECK ("slug" ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$');
ALTER TABLE "environment" ADD CONSTRAINT "environment_slug_form" CHECK ("slug" ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$');
ALTER TABLE "environment" ADD CONSTRAINT "environment_revision_counts" CHECK ("revision_number" >= 0);
ALTER TABLE "secret" ADD CONSTRAINT "secret_key_form" CHECK ("key" ~ '^[A-Za-z0-9._-]{1,253}$');
ALTER TABLE "secret" ADD CONSTRAINT "secret_version_counts" CHECK ("version" >= 1);
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_counts" CHECK ("version" >= 1);
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_size" CHECK ("value_bytes" BETWEEN 0 AND 262144);
ALTER TABLE "environment_revision" ADD CONSTRAINT "environment_revision_counts" CHECK ("number" >= 1);
ALTER TABLE "snapshot" ADD CONSTRAINT "snapshot_secret_counts" CHECK ("secret_count" >= 0);
ALTER TABLE "personal_token" ADD CONSTRAINT "personal_token_hash_size" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "service_token_credential" ADD CONSTRAINT "service_token_credential_hash_size" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "service_token_credential" ADD CONSTRAINT "service_token_credential_serial_counts" CHECK ("serial" >= 1);
ALTER TABLE "service_token" ADD CONSTRAINT "service_token_scope_fits" CHECK (
    ("project_id" IS NOT NULL) = ("scope" <> 'organization')
    AND ("environment_id" IS NOT NULL) = ("scope" = 'environment')
);
ALTER TABLE "data_key" ADD CONSTRAINT "data_key_uses_count" CHECK ("uses_reserved" >= 0);
ALTER TABLE "audit_entry" ADD CONSTRAINT "audit_entry_outcome_known" CHECK ("outcome" IN ('success', 'denied', 'failed'));

-- The audit only grows.
CREATE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_entry is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entry"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_audit_change"();
